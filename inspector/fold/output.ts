import type { Reply } from '../../machines/contracts/attempt.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { Replies } from '../../machines/contracts/phase-io.ts';
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

export interface AttemptAt {
  readonly span: AttemptSpan;
  readonly status: 'running' | 'valid' | 'discarded' | 'aborted';
  readonly failure: Failure | null;
  readonly usage: AttemptSpan['usage'];
  /** The wait before the next attempt; null if none is recorded yet. */
  readonly backOffMs: number | null;
}

export function attemptAt(span: AttemptSpan, at: number): AttemptAt {
  const isOver = span.to !== null && span.to <= at;
  const failure = isOver ? span.failure : null;
  const usage = isOver ? span.usage : null;
  const backOffMs = span.backOff !== null && span.backOff.at <= at ? span.backOff.inMs : null;
  // An aborted attempt has no end entry.
  const ended = failure !== null ? 'discarded' : usage === null ? 'aborted' : 'valid';
  return { span, status: isOver ? ended : 'running', failure, usage, backOffMs };
}

interface ReplyAt {
  /** The object in it; null until it starts. */
  readonly value: PartialValue | null;
  readonly chars: number;
  /** The whole text; used if it contains no object. */
  readonly text: () => string;
  /** The chunks are redacted; the text is in the complete reply. */
  readonly isRedacted: boolean;
}

interface Reading {
  /** The text chunks fetched so far. */
  readonly chunks: string[];
  json: PartialJsonReader;
  /** The number of chunks read, and their characters. */
  read: number;
  chars: number;
}

const readings = new WeakMap<AttemptSpan, Reading>();

/** The reply of an attempt at an entry. Moving forward reads only new chunks; moving back reads the attempt again. */
export function replyAt(log: RunLog, span: AttemptSpan, at: number): ReplyAt {
  const reading = readUpTo(log, span, countUpTo(span.deltas, at));
  const ended = span.reply !== null && span.reply <= at ? replyIn(log, span.reply) : null;
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

function replyIn(log: RunLog, seq: number): Pick<Reply, 'text' | 'value'> | null {
  const entry = entryAt(log, seq, 'activity-event');
  if (entry === null) return null;
  if (entry.event.type === 'reply.ended') return entry.event.reply;
  const value = replyValue(entry);
  return value === undefined ? null : { value, text: JSON.stringify(value) };
}

/** The value the engine read from a reply, or else what its text contains. Cached per reply. */
function valueIn(reply: Pick<Reply, 'text' | 'value'>): PartialValue | null {
  const known = values.get(reply);
  if (known !== undefined) return known;
  const { value, text } = reply;
  const json = new PartialJsonReader();
  if (typeof value !== 'object' || value === null) json.push(text);
  const created = typeof value === 'object' && value !== null ? completeValue(value) : json.root;
  values.set(reply, created);
  return created;
}

const values = new WeakMap<object, PartialValue | null>();

/** The fields of a reply by task, in schema order. */
export const REPLY_FIELDS: { readonly [T in keyof Replies]: readonly (keyof Replies[T] & string)[] } = {
  action: ['response', 'confidence', 'calls'],
  experience: ['summary', 'relevantPassageIds', 'missing', 'confidence'],
  intention: ['goal', 'alternatives', 'clarity', 'unclearIntent', 'alignment'],
  observation: ['insights', 'undigested', 'entities', 'connections', 'importance'],
  understanding: ['integrated', 'assessments'],
  yield: [
    'answer',
    'confidence',
    'taskComplete',
    'informationSufficiency',
    'needsTools',
    'proposedPhase',
    'rationale',
    'usedMessageIds',
    'noEvidence',
    'notes',
  ],
  brief: ['answer', 'used', 'confidence', 'enough', 'done', 'next', 'except'],
  continuation: ['done', 'finalOutput', 'next'],
  summary: ['summaries'],
  synthesis: ['answerText', 'confidence', 'usedMessageIds', 'usedStepIds', 'notes'],
  // Each run has its own schema.
  value: [],
};

export interface ReplyField {
  readonly name: string;
  /** Null if it was not received (yet). */
  readonly value: PartialValue | null;
}

/** Returns the received fields in order of arrival, then the missing ones. If the reply has a member for its phase, those of the member. */
export function fieldsOf(task: string, value: PartialValue | null): readonly ReplyField[] {
  const known: readonly string[] = Object.hasOwn(REPLY_FIELDS, task) ? REPLY_FIELDS[task as keyof Replies] : [];
  const members: readonly PartialMember[] = value?.kind === 'members' ? value.members : [];
  const parts = members.filter(({ name, value: part }) => isPhase(name) && part?.kind === 'members');
  if (parts.length > 0)
    return parts.flatMap(({ name: phase, value: part }) =>
      fieldsOf(phase, part).map((field) => ({ ...field, name: `${phase}.${field.name}` })),
    );
  // A name without a value may still be arriving: half a key is not a field.
  const named = members.filter(({ name, value: of }) => of !== null || known.includes(name));
  const cached = [...new Map(named.map((member) => [member.name, member])).values()];
  const received = cached.map(({ name, value: of }) => ({ name, value: of }));
  const names = new Set(cached.map(({ name }) => name));
  // A reply without known fields has a schema of its own.
  if (names.size > 1 && !known.some((name) => names.has(name))) return received;
  return [...received, ...known.filter((name) => !names.has(name)).map((name) => ({ name, value: null }))];
}

/** Validation issues of a reply by path. `items[2].price` is normalized to `items.2.price`. */
export interface Issues {
  /** Issues of the whole reply. */
  readonly whole: readonly string[];
  at(path: string): readonly string[];
  /** Issues below this path, for parts that are not shown themselves. */
  within(path: string): readonly { readonly path: string; readonly message: string }[];
}

const NONE: readonly never[] = [];

export function issuesByPlace(issues: Failure['issues']): Issues {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const index = plainPath(path);
    byPath.set(index, [...(byPath.get(index) ?? []), message]);
  }
  return {
    whole: byPath.get('') ?? NONE,
    at: (path) => byPath.get(path) ?? NONE,
    within: (path) =>
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
