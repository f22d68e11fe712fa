import type { GuardResult } from '../../machines/contracts/decision.ts';

type Inputs = GuardResult['inputs'];

/** One thing that a guard saw; `limit` is what it was held against, where that is among its inputs too. */
export interface SeenNumber {
  readonly name: string;
  readonly value: Inputs[string];
  readonly limit: { readonly name: string; readonly value: number } | null;
  /** Both are shares: where they stand from 0 to 1. */
  readonly share: { readonly value: number; readonly limit: number } | null;
}

/** A limit of the policies by its name: what it is a limit of. */
const LIMIT_OF: Readonly<Record<string, string>> = {
  allowed: 'used',
  leftMs: 'waitMs',
  longestMs: 'waitMs',
  loopRepeats: 'repeats',
  maxRetries: 'retries',
};

const SIDES: ReadonlySet<string> = new Set(['above', 'below']);

/** What a guard saw, in its order, a number beside the limit that it was held against: `confidence 0.85` and `above 0.9` are one. */
export function seenNumbers(inputs: Inputs): readonly SeenNumber[] {
  const names = Object.keys(inputs);
  const limits = new Map<string, string>();
  for (const [place, name] of names.entries()) {
    const of = limitedBy(name, names, place);
    if (of !== null && !limits.has(of) && typeof inputs[name] === 'number') limits.set(of, name);
  }
  const used = new Set(limits.values());
  return names.filter((name) => !used.has(name)).map((name) => seen(name, inputs, limits.get(name)));
}

/** The name of the input that this one is the limit of; null where it is none. */
function limitedBy(name: string, names: readonly string[], place: number): string | null {
  const before = names[place - 1];
  if (SIDES.has(name)) return before ?? null;
  const stem = name.startsWith('max') ? `${name.charAt(3).toLowerCase()}${name.slice(4)}` : LIMIT_OF[name];
  if (stem !== undefined && names.includes(stem)) return stem;
  return name.endsWith('Allowed') && before !== undefined && /tokens$/iu.test(before) ? before : null;
}

function seen(name: string, inputs: Inputs, limitName: string | undefined): SeenNumber {
  const value = inputs[name] ?? null;
  const limit = limitName === undefined ? undefined : inputs[limitName];
  if (limitName === undefined || typeof limit !== 'number') return { name, value, limit: null, share: null };
  const isShare = SIDES.has(limitName) && typeof value === 'number' && isUnit(value) && isUnit(limit);
  return { name, value, limit: { name: limitName, value: limit }, share: isShare ? { value, limit } : null };
}

const isUnit = (number: number): boolean => number >= 0 && number <= 1;
