import type { z } from 'zod';
import { limitsSchema } from '../../machines/contracts/budget.ts';
import type { ChainEvent } from '../../machines/contracts/chain-event.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { PHASES } from '../../machines/contracts/phase.ts';
import { thresholdsSchema } from '../../machines/contracts/thresholds.ts';
import { refuse, spell } from '../refusal.ts';
import type { Heard } from './recorded-calls.ts';

/** What is changed where a fork leaves its run, by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, `reply.answer`. */
export type ForkChanges = Readonly<Record<string, unknown>>;

export interface ReadChanges {
  /** The members of a reply that are changed. */
  readonly replyMembers: readonly string[];
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
    if (root === 'limits' || root === 'thresholds') Object.assign(numbers[root], numberFor(root, below, path, value));
    else if (root === 'phase' && below.length === 0)
      directed.push({ type: 'run.directed', phase: aPhase(path, value) });
    else if (root === 'reply' && below.length > 0) reply.push([below, value]);
    else throw refused(path, 'there is no such thing to change', 'limits.…, thresholds.…, reply.… or phase');
  }
  const adjusts = Object.keys({ ...numbers.limits, ...numbers.thresholds }).length > 0;
  return {
    events: [...(adjusts ? [{ type: 'run.adjusted' as const, ...numbers }] : []), ...directed],
    replyMembers: reply.map(([[name = '']]) => name),
    change: changingFirstReply(reply),
  };
}

/** A number of these names, within what a chain takes. */
function numberFor(
  root: 'limits' | 'thresholds',
  [name = '', ...more]: readonly string[],
  path: string,
  value: unknown,
) {
  const shape: Readonly<Record<string, z.ZodType>> = NUMBERS[root];
  const schema = more.length === 0 && Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (schema === undefined) throw refused(path, 'there is no such number', `one of ${Object.keys(shape).join(', ')}`);
  const read = schema.safeParse(value);
  if (!read.success) throw refuse(path, value, read.error);
  return { [name]: value as number };
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
