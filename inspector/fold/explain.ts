import type { Decision, GuardResult } from '../../machines/contracts/decision.ts';
import type { Thresholds } from '../../machines/contracts/limits.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { idAt } from '../../src/durable/entries.ts';
import { lastName } from './chart-index.ts';
import type { EntryOf } from './entry-index.ts';
import { formatDelay, humanizeGuard } from './format.ts';

export type Transition = EntryOf<'transition'>;

type Inputs = GuardResult['inputs'];

/** A value a guard read; `limit` is the limit it was compared with, if that is also an input. */
export interface ComparedValue {
  readonly name: string;
  readonly value: Inputs[string];
  readonly limit: { readonly name: string; readonly value: number } | null;
  /** Both are between 0 and 1. */
  readonly share: { readonly value: number; readonly limit: number } | null;
}

/** Limits by name: the input each one limits. */
const LIMIT_OF: Readonly<Record<string, string>> = {
  allowed: 'used',
  leftMs: 'waitMs',
  longestMs: 'waitMs',
  loopRepeats: 'repeats',
  maxCycles: 'completedCycles',
  maxRetries: 'retries',
};

const SIDES: ReadonlySet<string> = new Set(['above', 'below']);

/** Returns the values a guard compared, in order; a number and the limit it was compared with (`confidence 0.85`, `above 0.9`) form one item. */
export function comparedValues(inputs: Inputs): readonly ComparedValue[] {
  const names = Object.keys(inputs);
  const limits = new Map<string, string>();
  for (const [index, name] of names.entries()) {
    const of = limitedBy(name, names, index);
    if (of !== null && !limits.has(of) && typeof inputs[name] === 'number') limits.set(of, name);
  }
  const used = new Set(limits.values());
  return names.filter((name) => !used.has(name)).map((name) => comparedValue(name, inputs, limits.get(name)));
}

/** The values that a decision compared; a decision to continue records them without their thresholds. */
export function decisionValues({ inputs }: Decision, thresholds: Thresholds | null): readonly ComparedValue[] {
  return comparedValues(inputs).map((compared) => {
    const limit = thresholds === null || compared.limit !== null ? null : decisionLimit(compared.name, thresholds);
    if (limit === null || typeof compared.value !== 'number') return compared;
    return { ...compared, limit, share: { value: compared.value, limit: limit.value } };
  });
}

function decisionLimit(name: string, { confidence, change, sufficiency }: Thresholds): ComparedValue['limit'] {
  if (name === 'confidence') return { name: 'above', value: confidence };
  if (name === 'change') return { name: 'below', value: change };
  return name === 'informationSufficiency' ? { name: 'sufficiency', value: sufficiency } : null;
}

/** The name of the input that this one limits; null if it is not a limit. */
function limitedBy(name: string, names: readonly string[], index: number): string | null {
  const before = names[index - 1];
  if (SIDES.has(name)) return before ?? null;
  const stem =
    LIMIT_OF[name] ?? (name.startsWith('max') ? `${name.charAt(3).toLowerCase()}${name.slice(4)}` : undefined);
  if (stem !== undefined && names.includes(stem)) return stem;
  return name.endsWith('Allowed') && before !== undefined && /tokens$/iu.test(before) ? before : null;
}

function comparedValue(name: string, inputs: Inputs, limitName: string | undefined): ComparedValue {
  const value = inputs[name] ?? null;
  const limit = limitName === undefined ? undefined : inputs[limitName];
  if (limitName === undefined || typeof limit !== 'number') return { name, value, limit: null, share: null };
  const isShare = SIDES.has(limitName) && typeof value === 'number' && isUnit(value) && isUnit(limit);
  return { name, value, limit: { name: limitName, value: limit }, share: isShare ? { value, limit } : null };
}

const isUnit = (number: number): boolean => number >= 0 && number <= 1;

/** The confidence that degraded an answer, with what it needed. */
export const lowConfidence = ({ confidence, threshold }: LowConfidence): ComparedValue => ({
  name: 'confidence',
  value: confidence,
  limit: { name: 'above', value: threshold },
  share: { value: confidence, limit: threshold },
});

type LowConfidence = Extract<FinalAnswer['reasons'][number], { code: 'low_confidence' }>;

const KINDS: readonly (readonly [prefix: string, says: (rest: string) => string])[] = [
  ['xstate.done.actor.', (rest) => `${actorIn(rest)} finished`],
  ['xstate.error.actor.', (rest) => `${actorIn(rest)} failed`],
  ['xstate.done.state.', (rest) => `${lastName(rest)} reached its final state`],
  ['xstate.snapshot.', (rest) => `snapshot of ${actorIn(rest)}`],
  ['xstate.after.', (rest) => `after ${formatDelay(rest.split('.', 1)[0] ?? rest)}`],
];

const WHOLE: Readonly<Record<string, string>> = {
  '': 'without an event',
  'xstate.init': 'the start',
  'xstate.stop': 'stop',
};

/** An event type in words: `xstate.done.actor.0.intention` becomes "intention finished". Other names are unchanged. */
export function humanizeEvent(type: string): string {
  const whole = Object.hasOwn(WHOLE, type) ? WHOLE[type] : undefined;
  if (whole !== undefined) return whole;
  const kind = KINDS.find(([prefix]) => type.startsWith(prefix));
  return kind === undefined ? type : kind[1](type.slice(kind[0].length));
}

/** Names an actor by its path or id. The id of an unnamed one is an index and the invoking state: `0.postChain.cycling.yield.assessing`. */
export function actorIn(path: string): string {
  const id = path === '' ? 'root' : idAt(path);
  return /^\d+\./u.test(id) ? lastName(id) : id;
}

/** Why an event led to nothing, by the guards that were false. */
export const ignoredWords = (guards: readonly string[]): string =>
  guards.length === 0
    ? 'the current states have no transition for it'
    : `${[...new Set(guards)].map(humanizeGuard).join(', ')} did not hold`;
