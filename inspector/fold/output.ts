import type { Reply } from '../../machines/contracts/attempt.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { Replies } from '../../machines/contracts/phase-io.ts';
import type { RunLog } from '../wire/run-log.ts';
import { GrowingJson, type GrowingMember, type GrowingValue, grownFrom } from './growing-json.ts';
import { countBegunBy, countUpTo } from './sorted.ts';
import type { AttemptSpan, PhaseSpan, Spans } from './spans.ts';

/** An attempt's status at an entry. */
export interface AttemptAt {
  readonly span: AttemptSpan;
  readonly status: 'running' | 'valid' | 'discarded' | 'aborted';
  readonly failure: Failure | null;
  readonly usage: AttemptSpan['usage'];
  /** The wait before the next attempt; null if none is recorded yet. */
  readonly backOffMs: number | null;
}

/** The attempts at one value, up to an entry, the first one first: those of the attempt that had begun last. */
export function attemptsAt({ attempts }: Spans, at: number): readonly AttemptAt[] {
  const count = countBegunBy(attempts, at);
  const last = attempts[count - 1];
  if (last === undefined) return [];
  const spans: AttemptSpan[] = [];
  for (let place = count - 1; attempts[place]?.attemptId === last.attemptId; place -= 1) {
    const span = attempts[place];
    if (span !== undefined) spans.unshift(span);
  }
  return spans.map((span) => attemptAt(span, at));
}

function attemptAt(span: AttemptSpan, at: number): AttemptAt {
  const isOver = span.to !== null && span.to <= at;
  const failure = isOver ? span.failure : null;
  const usage = isOver ? span.usage : null;
  const backOffMs = span.backOff !== null && span.backOff.at <= at ? span.backOff.inMs : null;
  // An aborted attempt has no end entry.
  const ended = failure !== null ? 'discarded' : usage === null ? 'aborted' : 'valid';
  return { span, status: isOver ? ended : 'running', failure, usage, backOffMs };
}

/** The reply of an attempt, up to an entry. */
interface ReplyAt {
  /** The object in it; null while none has begun. */
  readonly value: GrowingValue | null;
  /** The number of characters received. */
  readonly chars: number;
  /** The whole text; used if it contains no object. */
  readonly text: () => string;
  /** The chunks are redacted; the text is in the complete reply. */
  readonly piecesLeftOut: boolean;
}

interface Reading {
  readonly span: AttemptSpan;
  /** The texts of its pieces that were fetched, each once. */
  readonly pieces: string[];
  json: GrowingJson;
  /** How many of the pieces were read, and their characters. */
  read: number;
  chars: number;
}

const readings = new WeakMap<RunLog, Reading>();

/**
 * The reply of an attempt at an entry. Moving forward reads only new chunks; moving back, or to another attempt, reads
 * that attempt again.
 */
export function replyAt(log: RunLog, span: AttemptSpan, at: number): ReplyAt {
  const reading = readUpTo(log, span, countUpTo(span.deltas, at));
  const ended = span.reply !== null && span.reply <= at ? replyIn(log, span.reply) : null;
  const piecesLeftOut = ended !== null && reading.chars === 0 && reading.read > 0 && ended.text !== '';
  const { pieces, read, chars, json } = reading;
  if (ended === null) return { value: json.root, chars, text: () => pieces.slice(0, read).join(''), piecesLeftOut };
  return { value: valueIn(ended) ?? json.root, chars: ended.text.length, text: () => ended.text, piecesLeftOut };
}

function readUpTo(log: RunLog, span: AttemptSpan, count: number): Reading {
  let reading = readings.get(log);
  if (reading === undefined || reading.span !== span) {
    reading = { span, pieces: [], json: new GrowingJson(), read: 0, chars: 0 };
    readings.set(log, reading);
  }
  if (reading.read > count) {
    reading.json = new GrowingJson();
    reading.read = 0;
    reading.chars = 0;
  }
  for (; reading.read < count; reading.read += 1) {
    const piece = reading.pieces[reading.read] ?? fetched(log, span.deltas[reading.read]);
    reading.pieces[reading.read] = piece;
    reading.json.push(piece);
    reading.chars += piece.length;
  }
  return reading;
}

function fetched(log: RunLog, seq: number | undefined): string {
  const entry = seq === undefined ? undefined : log.entry(seq);
  return entry?.type === 'text-delta' ? entry.text : '';
}

function replyIn(log: RunLog, seq: number): Reply | null {
  const entry = log.entry(seq);
  return entry.type === 'call-event' && entry.event.type === 'reply.ended' ? entry.event.reply : null;
}

/** The value the engine read from a reply, or else what its text contains. Cached per reply. */
function valueIn(reply: Reply): GrowingValue | null {
  const known = values.get(reply);
  if (known !== undefined) return known;
  const { value, text } = reply;
  const json = new GrowingJson();
  if (typeof value !== 'object' || value === null) json.push(text);
  const made = typeof value === 'object' && value !== null ? grownFrom(value) : json.root;
  values.set(reply, made);
  return made;
}

const values = new WeakMap<Reply, GrowingValue | null>();

/** The fields of a reply by task, in schema order. */
export const REPLY_FIELDS: { readonly [T in keyof Replies]: readonly (keyof Replies[T] & string)[] } = {
  action: ['response', 'confidence', 'call'],
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
  ],
  continuation: ['done', 'finalOutput', 'next'],
  summary: ['summaries'],
  synthesis: ['answerText', 'confidence', 'usedMessageIds', 'notes'],
};

export interface Field {
  readonly name: string;
  /** Null if it was not received (yet). */
  readonly value: GrowingValue | null;
  /** The field is in the schema of the task. A reply without known fields has a custom schema. */
  readonly isKnown: boolean;
}

/** The received fields in order of arrival, then the missing ones. */
export function fieldsOf(task: string, value: GrowingValue | null): readonly Field[] {
  const known: readonly string[] = Object.hasOwn(REPLY_FIELDS, task) ? REPLY_FIELDS[task as keyof Replies] : [];
  const members: readonly GrowingMember[] = value?.kind === 'members' ? value.members : [];
  const there = [...new Map(members.map((member) => [member.name, member])).values()];
  const came = there.map(({ name, value: of }) => ({ name, value: of, isKnown: known.includes(name) }));
  if (came.length > 1 && came.every(({ isKnown }) => !isKnown)) return came;
  const names = new Set(there.map(({ name }) => name));
  const due = known.filter((name) => !names.has(name));
  return [...came, ...due.map((name) => ({ name, value: null, isKnown: true }))];
}

/** What is wrong at a place of a reply, by its path: `items.2.price`, whether it was written so or as `items[2].price`. */
export interface Issues {
  /** What is wrong with the whole. */
  readonly whole: readonly string[];
  at(path: string): readonly string[];
  /** Issues below this path, for parts that are not shown themselves. */
  within(path: string): readonly { readonly path: string; readonly message: string }[];
}

const NONE: readonly never[] = [];

export function issuesByPlace(issues: Failure['issues']): Issues {
  const byPath = new Map<string, string[]>();
  for (const { path, message } of issues) {
    const place = plainPath(path);
    byPath.set(place, [...(byPath.get(place) ?? []), message]);
  }
  return {
    whole: byPath.get('') ?? NONE,
    at: (path) => byPath.get(path) ?? NONE,
    within: (path) =>
      [...byPath].flatMap(([place, messages]) =>
        place.startsWith(`${path}.`) ? messages.map((message) => ({ path: place, message })) : [],
      ),
  };
}

const plainPath = (path: string): string =>
  path
    .replace(/\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]/gu, (_, one = '', other = '', bare = '') => `.${one}${other}${bare}`)
    .replace(/^\./u, '');

/** A phase's status at an entry; `summary` is its result or its failure. */
interface PhaseAt extends Pick<PhaseSpan, 'from' | 'phase' | 'cycle'> {
  readonly status: 'running' | 'done' | 'failed' | 'aborted';
  readonly summary: string;
}

/** The phases of the current cycle at an entry, in start order. */
export function phasesOfCycle(log: RunLog, { phases }: Spans, at: number): readonly PhaseAt[] {
  const told: PhaseAt[] = [];
  const count = countBegunBy(phases, at);
  const cycle = phases[count - 1]?.cycle;
  for (let place = count - 1; phases[place]?.cycle === cycle && place >= 0; place -= 1) {
    const span = phases[place];
    if (span !== undefined) told.unshift(phaseAt(log, span, at));
  }
  return told;
}

function phaseAt(log: RunLog, { from, phase, cycle, to, failure }: PhaseSpan, at: number): PhaseAt {
  const known = { from, phase, cycle };
  if (to === null || to > at) return { ...known, status: 'running', summary: '' };
  if (failure !== null) return { ...known, status: 'failed', summary: failure.message };
  const end = log.entry(to);
  if (end.type !== 'phase-end') return { ...known, status: 'aborted', summary: '' };
  return { ...known, status: 'done', summary: end.summary };
}
