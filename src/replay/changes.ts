import { limitsSchema } from '../../machines/contracts/budget.ts';
import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { PHASES } from '../../machines/contracts/phase.ts';
import { thresholdsSchema } from '../../machines/contracts/thresholds.ts';
import { spell } from '../refusal.ts';
import type { Heard } from './recorded-calls.ts';

/** What is changed where a fork leaves its run, by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, `reply.answer`. */
export type ForkChanges = Readonly<Record<string, unknown>>;

export interface ReadChanges {
  /** What the run is told. */
  readonly events: readonly ChainEvent[];
  /** Sees what was heard of calls, the first finished reply among it. */
  readonly change: (heard: Heard) => Heard;
}

const NUMBERS = { limits: limitsSchema.shape, thresholds: thresholdsSchema.shape } as const;

/** Throws `invalid_option` for what cannot be changed. */
export function readChanges(changes: ForkChanges): ReadChanges {
  const numbers: { limits: Record<string, number>; thresholds: Record<string, number> } = {
    limits: {},
    thresholds: {},
  };
  const directed: ChainEvent[] = [];
  const reply: [readonly string[], unknown][] = [];
  for (const [path, value] of Object.entries(changes)) {
    const [root = '', ...below] = path.split('.');
    if (root === 'limits' || root === 'thresholds')
      numbers[root][numberNamed(root, below, path)] = aNumber(path, value);
    else if (root === 'phase' && below.length === 0)
      directed.push({ type: 'run.directed', phase: aPhase(path, value) });
    else if (root === 'reply' && below.length > 0) reply.push([below, value]);
    else throw refused(path, 'there is no such thing to change', 'limits.…, thresholds.…, reply.… or phase');
  }
  const adjusts = Object.keys({ ...numbers.limits, ...numbers.thresholds }).length > 0;
  return {
    events: [...(adjusts ? [{ type: 'run.adjusted' as const, ...numbers }] : []), ...directed],
    change: changingFirstReply(reply),
  };
}

function numberNamed(root: 'limits' | 'thresholds', [name = '', ...more]: readonly string[], path: string): string {
  if (more.length === 0 && Object.hasOwn(NUMBERS[root], name)) return name;
  throw refused(path, 'there is no such number', `one of ${Object.keys(NUMBERS[root]).join(', ')}`);
}

function aNumber(path: string, value: unknown): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw refused(path, `got ${spell(value)}`, 'a number');
}

function aPhase(path: string, value: unknown): string {
  if (PHASES.some((phase) => phase === value)) return value as string;
  throw refused(path, `got ${spell(value)}`, `one of ${PHASES.join(', ')}`);
}

function refused(path: string, got: string, wanted: string): PostChainError {
  return new PostChainError('invalid_option', `${path}: ${got}; wanted ${wanted}.`);
}

/** The reply that ends first is another one; those behind it are as they were. */
function changingFirstReply(paths: readonly (readonly [readonly string[], unknown])[]): ReadChanges['change'] {
  let open = paths.length > 0;
  return (heard) => {
    if (!open || !('event' in heard) || heard.event.type !== 'reply.ended') return heard;
    open = false;
    const { reply } = heard.event;
    const value = paths.reduce((whole, [path, part]) => withPart(whole, path, part), reply.value);
    return { ...heard, event: { ...heard.event, reply: { ...reply, value, text: JSON.stringify(value) } } };
  };
}

function withPart(whole: unknown, [name = '', ...below]: readonly string[], part: unknown): unknown {
  const inside = below.length === 0 ? part : withPart(Object(whole)[name], below, part);
  if (Array.isArray(whole)) return whole.with(Number(name), inside);
  return { ...(whole as object), [name]: inside };
}
