import type { Reply } from '../../machines/contracts/attempt.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import { isPhase } from '../../machines/policies/progress.ts';
import { replyValue } from '../../src/chain/journal/phase-finding.ts';
import {
  completeValue,
  PartialJsonReader,
  type PartialMember,
  type PartialValue,
} from '../../src/chain/presentation/partial-json.ts';
import type { RunLog } from '../wire/run-log.ts';
import { entryAt } from './entry-index.ts';
import { countUpTo } from './sorted.ts';
import type { AttemptSpan } from './spans.ts';

export type AttemptAt = ReturnType<typeof attemptAt>;

export function attemptAt(span: AttemptSpan, at: number) {
  const isOver = span.to !== null && span.to <= at;
  const failure = isOver ? span.failure : null;
  const usage = isOver ? span.usage : null;
  const backOffMs = span.backOff !== null && span.backOff.at <= at ? span.backOff.inMs : null;
  // An aborted attempt has no end entry.
  const ended = failure !== null ? 'discarded' : usage === null ? 'aborted' : 'valid';
  return { span, status: (isOver ? ended : 'running') as typeof ended | 'running', failure, usage, backOffMs };
}

interface Reading {
  readonly chunks: string[];
  json: PartialJsonReader;
  read: number;
  chars: number;
}

const readings = new WeakMap<AttemptSpan, Reading>();

/**
 * The reply of an attempt at an entry: the object in it, null until it starts, and the whole text. Moving forward reads only new chunks;
 * moving back reads the attempt again. `isRedacted`: the chunks are redacted; the text is in the complete reply.
 */
export function replyAt(log: RunLog, span: AttemptSpan, at: number) {
  const reading = readUpTo(log, span, countUpTo(span.deltas, at));
  const ended = span.reply !== null && span.reply <= at ? replyIn(log, span) : null;
  const isRedacted = ended !== null && reading.chars === 0 && reading.read > 0 && ended.text !== '';
  const { chunks, read, chars, json } = reading;
  if (ended === null) return { value: json.root, chars, text: () => chunks.slice(0, read).join(''), isRedacted };
  return { value: valueIn(ended) ?? json.root, chars: ended.text.length, text: () => ended.text, isRedacted };
}

function readUpTo(log: RunLog, span: AttemptSpan, count: number): Reading {
  const reading = readings.get(span) ?? { chunks: [], json: new PartialJsonReader(), read: 0, chars: 0 };
  readings.set(span, reading);
  if (reading.read > count) {
    reading.json = new PartialJsonReader();
    reading.read = 0;
    reading.chars = 0;
  }
  for (; reading.read < count; reading.read += 1) {
    const piece = reading.chunks[reading.read] ?? entryAt(log, span.deltas[reading.read], 'text-delta')?.text ?? '';
    reading.chunks[reading.read] = piece;
    reading.json.push(piece);
    reading.chars += piece.length;
  }
  return reading;
}

/** The value of the complete reply of an attempt; null if there is none. */
export function replyOf(log: RunLog, { reply }: AttemptSpan): unknown {
  const entry = entryAt(log, reply, 'activity-event');
  return (entry && replyValue(entry)) ?? null;
}

function replyIn(log: RunLog, span: AttemptSpan): Pick<Reply, 'text' | 'value'> | null {
  const entry = entryAt(log, span.reply, 'activity-event');
  if (entry?.event.type === 'reply.ended') return entry.event.reply;
  const value = replyOf(log, span);
  return value === null ? null : { value, text: JSON.stringify(value) };
}

/** The value the engine read from a reply, or else what its text contains. */
function valueIn({ value, text }: Pick<Reply, 'text' | 'value'>): PartialValue | null {
  if (typeof value === 'object' && value !== null) return completeValue(value);
  const json = new PartialJsonReader();
  json.push(text);
  return json.root;
}

export interface ReplyField {
  readonly name: string;
  readonly value: PartialValue;
}

/** Returns the received fields in order of arrival. If the reply has a member for its phase, those of the member. */
export function fieldsOf(value: PartialValue | null): readonly ReplyField[] {
  const members: readonly PartialMember[] = value?.kind === 'members' ? value.members : [];
  const parts = members.filter(({ name, value: part }) => isPhase(name) && part?.kind === 'members');
  if (parts.length > 0)
    return parts.flatMap(({ name: phase, value: part }) =>
      fieldsOf(part).map((field) => ({ ...field, name: `${phase}.${field.name}` })),
    );
  // A name without a value may still be arriving: half a key is not a field.
  const named = members.flatMap(({ name, value: of }) => (of === null ? [] : [[name, { name, value: of }] as const]));
  return [...new Map(named).values()];
}

export type Issues = ReturnType<typeof issuesByPlace>;

const NONE: readonly never[] = [];

/** Validation issues of a reply by path. `items[2].price` is normalized to `items.2.price`. */
export function issuesByPlace(issues: Failure['issues']) {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const index = plainPath(path);
    byPath.set(index, [...(byPath.get(index) ?? []), message]);
  }
  return {
    whole: (byPath.get('') ?? NONE) as readonly string[],
    at: (path: string): readonly string[] => byPath.get(path) ?? NONE,
    /** Issues below this path, for parts that are not shown themselves. */
    within: (path: string) =>
      [...byPath].flatMap(([index, messages]) =>
        index.startsWith(`${path}.`) ? messages.map((message) => ({ path: index, message })) : [],
      ),
  };
}

const plainPath = (path: string): string =>
  path
    .replace(
      /\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]/gu,
      (_, one = '', other = '', baseClasses = '') => `.${one}${other}${baseClasses}`,
    )
    .replace(/^\./u, '');
