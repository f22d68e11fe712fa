import type { z } from 'zod';
import { limitsSchema } from '../../../machines/contracts/budget.ts';
import type { ChainEvent } from '../../../machines/contracts/chain-event.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { thresholdsSchema } from '../../../machines/contracts/thresholds.ts';
import { describeValue, invalidOption } from '../../internal/options.ts';
import type { RecordedEvent } from './recorded-calls.ts';

/** What is changed where a fork leaves its run, by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, `reply.answer`. */
export type ForkChanges = Readonly<Record<string, unknown>>;

export interface ReadChanges {
  /** What the run is told. */
  readonly events: readonly ChainEvent[];
  /** Sees what was heard of calls, the first finished reply among it. */
  readonly change: (heard: RecordedEvent) => RecordedEvent;
}

const NUMBERS = { limits: limitsSchema.shape, thresholds: thresholdsSchema.shape } as const;

/** `recorded` is what follows. Throws `invalid_option` for what cannot be changed. */
export function readChanges(changes: ForkChanges, recorded: readonly JournalEntry[]): ReadChanges {
  const numbers: { limits: Record<string, number>; thresholds: Record<string, number> } = {
    limits: {},
    thresholds: {},
  };
  const directed: ChainEvent[] = [];
  const reply: ReplyChange[] = [];
  for (const [path, value] of Object.entries(changes)) {
    const [root = '', ...below] = path.split('.');
    if (root === 'limits' || root === 'thresholds') Object.assign(numbers[root], numberFor(root, below, path, value));
    else if (root === 'phase' && below.length === 0)
      directed.push({ type: 'run.directed', phase: aPhase(path, value) });
    else if (root === 'reply' && below.length > 0) reply.push([below, value]);
    else throw refused(path, 'there is no such thing to change', 'limits.…, thresholds.…, reply.… or phase');
  }
  const adjusts = Object.keys({ ...numbers.limits, ...numbers.thresholds }).length > 0;
  requirePlaces(reply, recorded);
  return {
    events: [...(adjusts ? [{ type: 'run.adjusted' as const, ...numbers }] : []), ...directed],
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
  if (!read.success) throw invalidOption(path, value, read.error);
  return { [name]: value as number };
}

function aPhase(path: string, value: unknown): string {
  if (PHASES.some((phase) => phase === value)) return value as string;
  throw refused(path, `got ${describeValue(value)}`, `one of ${PHASES.join(', ')}`);
}

function refused(path: string, got: string, wanted: string): PostChainError {
  return new PostChainError('invalid_option', `${path}: ${got}; wanted ${wanted}.`);
}

/** The reply that ends first is another one; those behind it are as they were. */
function changingFirstReply(paths: readonly ReplyChange[]): ReadChanges['change'] {
  let open = paths.length > 0;
  return (heard) => {
    if (!open || !('event' in heard) || heard.event.type !== 'reply.ended') return heard;
    open = false;
    const { reply } = heard.event;
    const value = changedOrNot(reply.value, paths);
    return { ...heard, event: { ...heard.event, reply: { ...reply, value, text: JSON.stringify(value) } } };
  };
}

/** Where the run went another way, another reply than the one that was recorded next comes first: it may not have these places. */
function changedOrNot(reply: unknown, paths: readonly ReplyChange[]): unknown {
  try {
    return changedReply(reply, paths);
  } catch {
    return reply;
  }
}

type ReplyChange = readonly [path: readonly string[], value: unknown];

function changedReply(reply: unknown, paths: readonly ReplyChange[]): unknown {
  return paths.reduce((whole, [path, part]) => withPart(whole, path, part), reply);
}

/** Throws `invalid_option` where the reply that is heard next has no such place: a misspelt member would silently do nothing. */
function requirePlaces(paths: readonly ReplyChange[], recorded: readonly JournalEntry[]): void {
  if (paths.length === 0) return;
  const next = recorded.find((entry) => entry.type === 'call-event' && entry.event.type === 'reply.ended');
  if (next?.type !== 'call-event' || next.event.type !== 'reply.ended')
    throw refused('reply', 'no reply was recorded behind the entry', 'an entry before the last reply');
  const { value } = next.event.reply;
  const members = Object.keys(Object(value));
  const unknown = paths.map(([[name = '']]) => name).find((name) => !members.includes(name));
  if (unknown !== undefined && members.length > 0)
    throw refused(`reply.${unknown}`, 'the reply that comes next has no such member', `one of ${members.join(', ')}`);
  changedReply(value, paths);
}

function withPart(whole: unknown, [name = '', ...below]: readonly string[], part: unknown): unknown {
  const inside = (before: unknown): unknown => (below.length === 0 ? part : withPart(before, below, part));
  if (Array.isArray(whole)) {
    const at = /^\d+$/u.test(name) ? Number(name) : whole.length;
    if (at >= whole.length) throw refused('reply', `its list has no item "${name}"`, `one below ${whole.length}`);
    return whole.with(at, inside(whole[at]));
  }
  if (typeof whole !== 'object')
    throw refused('reply', `nothing is in ${describeValue(whole)}, so no "${name}"`, 'a path in it');
  return { ...whole, [name]: inside(Object.hasOwn(whole ?? {}, name) ? (whole as Members)[name] : null) };
}

type Members = Readonly<Record<string, unknown>>;
