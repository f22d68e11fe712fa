import * as z from 'zod/mini';
import type { EarlyReply } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal.ts';
import { limitsSchema, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { answering } from '../../../machines/policies/questions.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { invalidOption } from '../../internal/options.ts';
import type { EditRequest } from '../../llm/attempts/provide-attempt.ts';
import { filesOf, withFiles } from '../../llm/request.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { type ActivityExecutor, liveExecutor } from '../runtime/durable-actor.ts';
import type { Run } from '../runtime/run.ts';
import { createRunClock } from '../runtime/run-clock.ts';
import type { RunOptions } from '../runtime/run-options.ts';
import { type JournalStore, runStartOf } from './journal-format.ts';
import { replyValue } from './phase-finding.ts';
import {
  callKey,
  callQueues,
  endOf,
  isAnswered,
  type RecordedEvent,
  type Recording,
  recordedCalls,
  recordedExecutor,
} from './recorded-calls.ts';
import { divergenceText, replayEntries, requireSameChart } from './replay.ts';

export interface ForkOptions {
  /** The seq of the entry to change: the fork leaves its source before the external event that led to this entry. */
  readonly at: number;
  /** What to change there. */
  readonly set?: ForkChanges;
  /**
   * Sends these turns in the model call whose `prompt` entry is `at`, and uses the new reply. Later calls that stay the same keep their
   * recorded results.
   */
  readonly turns?: readonly ChatTurn[] | undefined;
  /** JSON that the calling program stores in the fork's journal. Default: that of the run it forks. */
  readonly host?: RunOptions['host'];
  readonly signal?: AbortSignal;
}

/** Changes by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, or a field of the next reply such as `reply.confidence`. */
export type ForkChanges = Readonly<Record<string, unknown>>;

interface ForkSource {
  readonly entries: readonly JournalEntry[];
  readonly runId: string;
}

interface ForkTarget {
  readonly parts: ChainParts;
  readonly journals: JournalStore | undefined;
}

/**
 * Starts a run that repeats another one up to an entry and then continues live with the changes. Recorded results are reused for identical
 * requests; other calls are made.
 *
 * @throws PostChainError `invalid_option` for an invalid change, `invalid_journal` if this chain cannot continue the run.
 */
export function forkRun(
  { entries, runId }: ForkSource,
  { parts, journals }: ForkTarget,
  { at, set = {}, turns, host, signal }: ForkOptions,
): Run {
  const start = runStartOf(entries);
  requireSameChart(start);
  const from = branchPoint(entries, at);
  const changes = readChanges(set, entries, from);
  const edited = turns === undefined ? null : editedCall(entries, at);
  const { find, keyOf } = findRecorded({ start, entries, from, runId, edited }, parts);
  const edit = edited !== null && turns !== undefined ? editOnce(keyOf(edited), turns, runId) : null;
  const clock = createRunClock(parts.clock, start.startedAtMs, entries[from - 1]?.atMs ?? 0);
  const forkStart: RunStart = {
    ...start,
    runId,
    ...(host && { host }),
    forkedFrom: {
      runId: start.runId,
      seq: at,
      changes: [
        ...Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`),
        ...(turns === undefined ? [] : ['prompt']),
      ],
      forkedAt: new Date(parts.clock.now()).toISOString(),
    },
  };
  const { opened } = replayEntries(
    forkStart,
    entries.slice(0, from),
    { ...parts, clock, ...(edit && { editRequest: edit }) },
    {
      isSame: () => true,
      clockAfterRecording: { atMs: clock.elapsedMs },
      ...(journals && { writer: journals.create(runId) }),
    },
  );
  const { run, durableActor, abortOn } = opened;
  clock.start();
  for (const event of changes.events)
    durableActor.deliver({ type: 'delivery', event: answering(run.actor.getSnapshot().context, event) });
  const live = liveExecutor(clock, durableActor.deliver);
  durableActor.attach(recordedExecutor(opened, { find, from, change: changes.change }, live));
  abortOn(signal);
  return run;
}

/** Returns the index of the last external event at or before an entry. The fork differs from there on. */
function branchPoint(entries: readonly JournalEntry[], at: number): number {
  if (!Number.isSafeInteger(at) || at < 1 || at >= entries.length)
    throw new PostChainError(
      'invalid_option',
      `"at" must be the number of an entry, from 1 to ${entries.length - 1}; received ${at}`,
    );
  const from = entries.findLastIndex(({ seq, type }) => seq <= at && EXTERNAL_EVENTS.has(type));
  return from < 0 ? entries.findIndex(({ type }) => EXTERNAL_EVENTS.has(type)) : from;
}

/**
 * Returns a lookup of recorded results: the rest of a call that was in flight at the branch point, and the result of an identical later
 * request. Throws `invalid_journal` if this chain does not make the recorded requests.
 */
function findRecorded(
  {
    start,
    entries,
    from,
    runId,
    edited,
  }: ForkSource & { readonly start: RunStart; readonly from: number; readonly edited: number | null },
  parts: ChainParts,
): { readonly find: Recording['find']; readonly keyOf: (call: number) => string | undefined } {
  const keys = new Map<number, string>();
  const execute: ActivityExecutor['execute'] = (call, activity) => void keys.set(call, callKey(activity, start));
  const { divergence } = replayEntries(start, entries, parts, { executor: { execute, wait: () => () => {} } });
  if (divergence !== null)
    throw new PostChainError('invalid_journal', `Cannot fork ${start.runId}: ${divergenceText(divergence)}`);
  const calls = recordedCalls(entries).filter(
    (recorded) => isAnswered(recorded) && endOf(recorded) >= from && recorded.call !== edited,
  );
  const answers = callQueues(calls, ({ call }) => keys.get(call));
  return { find: (_, activity) => answers.take(callKey(activity, { runId })), keyOf: (call) => keys.get(call) };
}

/** The actors that make model calls: in a phase, and before it. */
const MODEL_CALLS: ReadonlySet<string> = new Set(['readReply', 'callAhead']);

/** Returns the number of the model call whose `prompt` entry this is. Throws `invalid_option` if it is none. */
function editedCall(entries: readonly JournalEntry[], at: number): number {
  const prompt = entries[at];
  const call = entries.findLast(
    (entry) =>
      entry.type === 'call-start' &&
      MODEL_CALLS.has(entry.actor) &&
      prompt?.type === 'prompt' &&
      entry.seq < at &&
      entry.attemptId === prompt.attemptId,
  );
  if (call?.type === 'call-start') return call.call;
  throw invalidChange(`"turns" can be sent at a "prompt" entry only; entry ${at} is "${prompt?.type ?? 'missing'}"`);
}

/** Replaces the turns of the first call with this key. */
function editOnce(key: string | undefined, turns: readonly ChatTurn[], runId: string): EditRequest {
  let isDone = false;
  // Compares the keys without their actors: the call may have started early in only one of the two runs.
  const sent = (text = '') => text.slice(text.indexOf(' '));
  return (input, request) => {
    if (isDone || sent(callKey({ actor: 'readReply', input }, { runId })) !== sent(key)) return null;
    isDone = true;
    const edited = withFiles(turns, filesOf(request));
    return { ...request, turns: edited, ...(request.turnsWithoutTools && { turnsWithoutTools: edited }) };
  };
}

interface ParsedChanges {
  /** The events that the fork receives first. */
  readonly events: readonly ChainEvent[];
  /** Transforms recorded events: changes the next reply. */
  readonly change: (recorded: RecordedEvent) => RecordedEvent;
}

const NUMBERS = { limits: limitsSchema.shape, thresholds: thresholdsSchema.shape } as const;

/** Validates changes. `from` is the index of the branch point. Throws `invalid_option`. */
function readChanges(changes: ForkChanges, entries: readonly JournalEntry[], from: number): ParsedChanges {
  const numbers: { limits: Record<string, number>; thresholds: Record<string, number> } = {
    limits: {},
    thresholds: {},
  };
  const directed: ChainEvent[] = [];
  const reply: ReplyChange[] = [];
  for (const [path, value] of Object.entries(changes)) {
    const [root = '', ...below] = path.split('.');
    if (root === 'limits' || root === 'thresholds') Object.assign(numbers[root], readNumber(root, below, path, value));
    else if (root === 'phase' && below.length === 0)
      directed.push({ type: 'run.directed', phase: parsePhase(path, value) });
    else if (root === 'reply' && below.length > 0) reply.push([below, value]);
    else throw invalidChange(`"${path}" cannot be changed; expected limits.…, thresholds.…, reply.… or phase`);
  }
  const adjusts = Object.keys({ ...numbers.limits, ...numbers.thresholds }).length > 0;
  const next = reply.length === 0 ? null : nextReply(entries, from);
  requireReplyPaths(reply, next);
  return {
    events: [...(adjusts ? [{ type: 'run.adjusted' as const, ...numbers }] : []), ...directed],
    change: changeReply(reply, next),
  };
}

/** Returns the limit or threshold at a path, within the range that a chain accepts. Throws `invalid_option`. */
export function readNumber(
  root: 'limits' | 'thresholds',
  [name = '', ...more]: readonly string[],
  path: string,
  value: unknown,
): Readonly<Record<string, number>> {
  const shape: Readonly<Record<string, z.ZodMiniType>> = NUMBERS[root];
  const schema = more.length === 0 && Object.hasOwn(shape, name) ? shape[name] : undefined;
  if (schema === undefined)
    throw invalidChange(`"${path}" does not exist; expected one of ${Object.keys(shape).join(', ')}`);
  const read = schema.safeParse(value);
  if (!read.success) throw invalidOption(path, value, read.error);
  return { [name]: value as number };
}

function parsePhase(path: string, value: unknown): string {
  if (PHASES.some((phase) => phase === value)) return value as string;
  throw invalidChange(`"${path}" must be one of ${PHASES.join(', ')}; received ${describeValue(value)}`);
}

const invalidChange = (message: string): PostChainError => new PostChainError('invalid_option', message);

type ReplyChange = readonly [path: readonly string[], value: unknown];

/** The first reply after the branch point. */
interface NextReply {
  readonly seq: number;
  readonly value: unknown;
  /** The phase that used it, if its call started early. */
  readonly early: Phase | null;
}

/**
 * Changes the next reply; later replies stay as they were. If the fork takes another path, the first reply that ends is changed instead,
 * unless the next one is that of an early call.
 */
function changeReply(changes: readonly ReplyChange[], next: NextReply | null): ParsedChanges['change'] {
  let pending = next !== null;
  return (recorded) => {
    if (!pending || !('event' in recorded)) return recorded;
    const { seq, event } = recorded;
    if (next?.early ? seq !== next.seq : event.type !== 'reply.ended') return recorded;
    pending = false;
    const value = changedIfPossible(replyValue(recorded), changes);
    if (event.type === 'done')
      return { ...recorded, event: { ...event, output: { ...(event.output as EarlyReply), value } } };
    if (event.type !== 'reply.ended') return recorded;
    return { ...recorded, event: { ...event, reply: { ...event.reply, value, text: JSON.stringify(value) } } };
  };
}

/** Returns the first reply at or after an index. The reply of an early call counts only if its phase used it. */
function nextReply(entries: readonly JournalEntry[], from: number): NextReply | null {
  for (const entry of entries.slice(from)) {
    if (entry.type !== 'call-event') continue;
    const { seq, call } = entry;
    const value = replyValue(entry);
    if (entry.event.type === 'reply.ended') return { seq, value, early: null };
    if (value === undefined || value === null) continue;
    const start = entries.find((one) => one.type === 'call-start' && one.call === call);
    const user = entries.find(
      (one) => start?.type === 'call-start' && one.type === 'phase-end' && one.attemptId === start.attemptId,
    );
    if (user?.type === 'phase-end') return { seq, value, early: user.phase };
  }
  return null;
}

/** If the fork takes another path, its first reply is not the one that was validated, and may lack these fields. */
function changedIfPossible(reply: unknown, changes: readonly ReplyChange[]): unknown {
  try {
    return changedReply(reply, changes);
  } catch {
    return reply;
  }
}

function changedReply(reply: unknown, changes: readonly ReplyChange[]): unknown {
  return changes.reduce((whole, [path, part]) => withPart(whole, pathIn(whole, path), part), reply);
}

/** A path may leave out the only member of a reply, which many models write around its fields. */
function pathIn(reply: unknown, path: readonly string[]): readonly string[] {
  const [member, ...others] = Object.keys(Object(reply));
  const [name = ''] = path;
  if (member === undefined || others.length > 0 || name === member) return path;
  return Object.hasOwn(Object((reply as Fields)[member]), name) ? [member, ...path] : path;
}

/**
 * Throws `invalid_option` if the next reply lacks a field (a misspelled one would silently have no effect), or if a changed early reply is
 * invalid: its validation is already recorded.
 */
function requireReplyPaths(changes: readonly ReplyChange[], next: NextReply | null): void {
  if (changes.length === 0) return;
  if (next === null)
    throw invalidChange(
      '"reply" cannot be changed: no reply follows this entry; choose an entry before the last reply',
    );
  const { value, early } = next;
  const fields = Object.keys(Object(value));
  const unknown = changes.map(([path]) => pathIn(value, path)[0] ?? '').find((name) => !fields.includes(name));
  if (unknown !== undefined && fields.length > 0)
    throw invalidChange(`"reply.${unknown}" does not exist in the next reply; expected one of ${fields.join(', ')}`);
  const changed = { reply: changedReply(value, changes) };
  if (early === null) return;
  const read = z.safeParse(z.object({ reply: replySchemas[early] }), changed);
  if (!read.success) throw invalidOption('reply', changed, read.error);
}

function withPart(whole: unknown, [name = '', ...below]: readonly string[], part: unknown): unknown {
  const inside = (before: unknown): unknown => (below.length === 0 ? part : withPart(before, below, part));
  if (Array.isArray(whole)) {
    const at = /^\d+$/u.test(name) ? Number(name) : whole.length;
    if (at >= whole.length)
      throw invalidChange(`"reply" has a list without an item "${name}"; expected an index below ${whole.length}`);
    return whole.with(at, inside(whole[at]));
  }
  if (typeof whole !== 'object')
    throw invalidChange(
      `"reply" has no field "${name}" in ${describeValue(whole)}; expected a path to an existing field`,
    );
  return { ...whole, [name]: inside(Object.hasOwn(whole ?? {}, name) ? (whole as Fields)[name] : null) };
}

type Fields = Readonly<Record<string, unknown>>;
