import * as z from 'zod/mini';
import type { EarlyReply } from '../../../machines/contracts/attempt.ts';
import type { ApprovalAnswer } from '../../../machines/contracts/capability.ts';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { CallEvent, ChainEvent } from '../../../machines/contracts/events.ts';
import type { CallSubject, JournalEntry, RunProduct, RunStart } from '../../../machines/contracts/journal.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { approvalDigest } from '../../../machines/policies/approvals.ts';
import { answering } from '../../../machines/policies/questions.ts';
import type { Json } from '../../durable/codec.ts';
import { startOfStep } from '../../durable/durable-format.ts';
import type { CallInfo, ReusableEvent as ReusedEvent, ReuseOptions } from '../../durable/reused-calls.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { invalidOption } from '../../internal/options.ts';
import type { EditRequest } from '../../llm/attempts/provide-attempt.ts';
import { createPromptReader, createPromptWriter, type PromptParts } from '../../llm/recorded-prompts.ts';
import { filesOf, withFiles } from '../../llm/request.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { describeCall } from '../runtime/describe-call.ts';
import { createFeed } from '../runtime/feed.ts';
import { attachRun, type ChainHost, productOf, type Run } from '../runtime/run.ts';
import { createChainInput, type RunOptions } from '../runtime/run-options.ts';
import { readNumber } from './changed-numbers.ts';
import { replyValue } from './phase-finding.ts';
import { requireSameChart } from './replay.ts';
import { runStartOf } from './run-start.ts';
import { isResult, readCallEvent, storedCallEvent, storedEntry } from './stored-entries.ts';

export interface ForkOptions {
  /**
   * The seq of the entry to change: the fork leaves its source before the external event that led to this entry. If an approved call has
   * not ended there, it leaves before the approval.
   */
  readonly at: number;
  /** What to change there. */
  readonly set?: ForkChanges;
  /**
   * Sends these turns in the model call whose `prompt` entry is `at`, and uses the new reply. With the recorded turns, the same call is made
   * again. Later calls that stay the same keep their recorded results.
   */
  readonly turns?: readonly ChatTurn[] | undefined;
  /** JSON that the calling program stores in the fork's journal. Default: that of the run it forks. */
  readonly host?: RunOptions['host'];
  readonly signal?: AbortSignal;
}

/** Changes by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, or a field of the next reply such as `reply.confidence`. */
export type ForkChanges = Readonly<Record<string, unknown>>;

/**
 * Starts a run that repeats another one up to an entry and then continues live with the changes. Recorded results are reused for identical
 * requests; other calls are made.
 *
 * @throws PostChainError `invalid_option` for an invalid change, `invalid_journal` if this chain cannot continue the run.
 */
export async function forkRun(
  chain: ChainHost,
  entries: readonly JournalEntry[],
  { at: chosen, set = {}, turns, host, signal }: ForkOptions,
): Promise<Run> {
  const { parts } = chain;
  const start = runStartOf(entries);
  requireSameChart(start);
  requirePosition(chosen, entries.length);
  const runId = parts.newRunId();
  const forkedAt = new Date(parts.clock.now()).toISOString();
  const identity = `${runId} ${forkedAt}`;
  const stored = reboundApprovals(entries, start.input.identity ?? start.input.runId, identity).map(storedEntry);
  const edited = turns === undefined ? null : editedCall(entries, chosen);
  // The call is the fork's own, so it leaves before the call, not before its prompt.
  const first = edited?.seq ?? chosen;
  const at = beforeApproval(entries, startOfStep(stored, first)) ?? first;
  const from = startOfStep(stored, at);
  const changes = readChanges(set, entries, from);
  const input: ChainInput = { ...start.input, runId, identity };
  const isChanged = changedCalls(start, parts);
  const kept = keptOptions(input, parts);
  const reader = createPromptReader();
  for (const entry of entries) reader.take(entry);
  const isEdited = turns !== undefined && textOf(turns) !== textOf(reader.at(chosen)?.turns ?? []);
  const own = productOf(input, parts, host ?? start.product.host);
  const product: RunProduct = {
    ...own,
    redacted: start.product.redacted,
    fork: {
      changes: [
        ...Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`),
        ...(own.modelId === start.product.modelId ? [] : [`model=${JSON.stringify(own.modelId)}`]),
        ...(isEdited ? ['prompt'] : []),
        ...(kept.length === 0 ? [] : [`${kept.join(', ')} as recorded`]),
      ],
      forkedAt,
    },
  };
  const feed = createFeed();
  const writer = createPromptWriter();
  /** The parts of a reused prompt may be in an entry that the fork does not have. */
  const rewritten = (seq: number): PromptParts | null => {
    const texts = reader.textsAt(seq);
    return texts && writer.partsOf(texts);
  };
  const actor = await chain.machine.fork(stored, {
    at,
    isBefore: true,
    id: runId,
    input,
    product: product as unknown as Json,
    isPaused: true,
    onEntry: feed.take,
    mayPark: () => chain.writers.isComplete(runId),
    reuse: {
      keyOf: (call, events) =>
        (call.activity === edited?.activity && events !== null) || isChanged(call) ? null : keyOf(call, events),
      change: (recorded) => changedEvent(recorded, changes, rewritten),
    },
  });
  const edit = edited !== null && isEdited ? editOnce(edited.subject?.request, turns) : undefined;
  const { run, begin, abortOn } = attachRun(chain, actor, feed, { editRequest: edit, prompts: writer });
  for (const event of changes.events) run.send(answering(run.ref.getSnapshot().context, event));
  begin();
  abortOn(signal);
  return run;
}

/**
 * Returns whether a call must be made, because this chain has another model than the run, or another version of the prompt. Several phases may
 * share a call, so a changed phase changes the calls of all.
 */
function changedCalls({ input, product }: RunStart, parts: ChainParts): (call: CallInfo) => boolean {
  const now = productOf(input, parts, null);
  const isOtherModel =
    product.modelId !== now.modelId || product.fallbackModelIds.join('\n') !== now.fallbackModelIds.join('\n');
  const changed = new Set(
    Object.keys(now.prompts).filter((task) => !isSamePrompt(product.prompts[task], now.prompts[task])),
  );
  if (PHASES.some((phase) => changed.has(phase))) for (const phase of PHASES) changed.add(phase);
  return ({ source, subject }) =>
    MODEL_CALLS.has(source) && (isOtherModel || changed.has((subject as unknown as CallSubject).task ?? ''));
}

const isSamePrompt = (
  one: RunProduct['prompts'][string] | undefined,
  other: RunProduct['prompts'][string] | undefined,
): boolean => one?.version === other?.version && one?.isOwn === other?.isOwn;

const KEPT = [
  'profile',
  'instructions',
  'limits',
  'thresholds',
  'policies',
  'capabilities',
  'continuation',
  'approver',
  'consent',
  'consentFor',
] as const satisfies readonly (keyof ChainInput)[];

/** The options of this chain that differ from those of the run: the fork has those of the run. */
function keptOptions(recorded: ChainInput, parts: ChainParts): readonly string[] {
  const { input: own } = createChainInput({ request: 'x' }, { ...parts, newRunId: () => 'x' });
  const ofChain = { ...recorded, capabilities: recorded.capabilities.filter(({ client }) => !client) };
  return KEPT.filter((name) => JSON.stringify(ofChain[name]) !== JSON.stringify(own[name]));
}

/**
 * Identical requests have the same key. A call that was stopped, or lost with its process, has no result. An approval is for one run, so
 * the program decides again.
 */
function keyOf({ source, subject }: CallInfo, events: readonly ReusedEvent[] | null): string | null {
  if (source === 'approveCalls') return null;
  const isAnswered =
    events === null || events.some((event) => event.type === 'activity-event' && isResult(event.event));
  return isAnswered ? `${source} ${(subject as unknown as CallSubject).request}` : null;
}

/** Returns entries in which each recorded approval answers the same question of another run: an answer counts for one run only. */
function reboundApprovals(entries: readonly JournalEntry[], from: string, to: string): readonly JournalEntry[] {
  const digests = new Map<string, string>();
  for (const entry of entries) {
    if (entry.type !== 'approval-resolved') continue;
    const asked = { capability: entry.capability, arguments: entry.original ?? entry.arguments };
    digests.set(approvalDigest(from, asked), approvalDigest(to, asked));
  }
  const rebound = <Answer extends ApprovalAnswer>(answer: Answer): Answer => ({
    ...answer,
    digest: digests.get(answer.digest) ?? answer.digest,
  });
  return entries.map((entry) => {
    if (entry.type === 'delivery' && entry.event.type === 'approval.given')
      return { ...entry, event: rebound(entry.event) };
    if (entry.type !== 'activity-event' || entry.source !== 'approveCalls' || entry.event.type !== 'done') return entry;
    const answers = entry.event.output as readonly ApprovalAnswer[];
    return { ...entry, event: { ...entry.event, output: answers.map(rebound) } };
  });
}

/**
 * Returns the first approval of a call that has not ended at the branch point; null if there is none. The fork leaves its source there and
 * asks again, because the call would start a second time.
 */
function beforeApproval(entries: readonly JournalEntry[], from: number): number | null {
  const past = entries.slice(0, from);
  const isOpen = (questionId: string, { seq }: JournalEntry): boolean => {
    const about = past.find((entry) => isAboutCall(entry) && entry.questionId === questionId);
    if (about === undefined || !isAboutCall(about)) return false;
    return !past.some((entry) => entry.type === 'capability-end' && entry.seq > seq && entry.index === about.index);
  };
  const isApproval = (entry: JournalEntry): boolean => {
    if (entry.type === 'delivery' && entry.event.type === 'approval.given')
      return entry.event.decision === 'approve' && isOpen(entry.event.questionId, entry);
    if (entry.type !== 'activity-event' || entry.source !== 'approveCalls' || entry.event.type !== 'done') return false;
    const answers = entry.event.output as readonly ApprovalAnswer[];
    return answers.some(({ decision, questionId }) => decision === 'approve' && isOpen(questionId, entry));
  };
  return past.find(isApproval)?.seq ?? null;
}

const isAboutCall = (entry: JournalEntry) => entry.type === 'approval-asked' || entry.type === 'approval-resolved';

function requirePosition(at: number, count: number): void {
  if (Number.isSafeInteger(at) && at >= 1 && at < count) return;
  throw new PostChainError(
    'invalid_option',
    `"at" must be the number of an entry, from 1 to ${count - 1}; received ${at}`,
  );
}

/** The actors that make model calls: in a phase, and before it. */
const MODEL_CALLS: ReadonlySet<string> = new Set(['readReply', 'callAhead']);

/** Returns the start of the model call whose `prompt` entry this is. Throws `invalid_option` if it is none. */
function editedCall(entries: readonly JournalEntry[], at: number): CallStart {
  const prompt = entries[at];
  const call = entries.findLast(
    (entry) =>
      entry.type === 'activity-start' &&
      MODEL_CALLS.has(entry.source) &&
      prompt?.type === 'prompt' &&
      entry.seq < at &&
      entry.subject?.attemptId === prompt.attemptId,
  );
  if (call?.type === 'activity-start') return call;
  throw invalidChange(`"turns" can be sent at a "prompt" entry only; entry ${at} is "${prompt?.type ?? 'missing'}"`);
}

const textOf = (turns: readonly ChatTurn[]): string =>
  JSON.stringify(turns.map(({ role, content, toolCalls, toolResult }) => [role, content, toolCalls, toolResult]));

type CallStart = Extract<JournalEntry, { type: 'activity-start' }>;

/** Replaces the turns of the first call with this request, which may have started early in only one of the two runs. */
function editOnce(asked: string | undefined, turns: readonly ChatTurn[]): EditRequest {
  let isDone = false;
  return (input, request) => {
    if (isDone || (describeCall('readReply', input) as unknown as CallSubject).request !== asked) return null;
    isDone = true;
    const edited = withFiles(turns, filesOf(request));
    const inWords = edited.some(({ role }) => role === 'tool') ? request.turnsWithoutTools : edited;
    return { ...request, turns: edited, ...(request.turnsWithoutTools && inWords && { turnsWithoutTools: inWords }) };
  };
}

interface ParsedChanges {
  /** The events that the fork receives first. */
  readonly events: readonly ChainEvent[];
  /** Changes the next reply. */
  readonly change: (recorded: RecordedReply) => CallEvent;
}

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
  return ({ seq, source, event }) => {
    if (!pending || (next?.early ? seq !== next.seq : event.type !== 'reply.ended')) return event;
    pending = false;
    const value = changedIfPossible(replyValue({ source, event }), changes);
    if (event.type === 'done') return { ...event, output: { ...(event.output as EarlyReply), value } };
    if (event.type !== 'reply.ended') return event;
    // Without its recorded validation, the chart validates the value.
    const { validation: _, ...ended } = event as typeof event & { readonly validation?: unknown };
    return { ...ended, reply: { ...event.reply, value, text: JSON.stringify(value) } };
  };
}

/** Returns what a call of the fork receives: the recorded event, with the change, and notes under its own attempt. */
function changedEvent(
  { event, seq, call: { source, subject } }: Parameters<NonNullable<ReuseOptions['change']>>[0],
  { change }: ParsedChanges,
  rewritten: (seq: number) => PromptParts | null,
): ReusedEvent {
  if (event.type === 'activity-event')
    return { ...event, event: storedCallEvent(change({ seq, source, event: readCallEvent(event.event) })) };
  const { attemptId } = subject as unknown as CallSubject;
  if (attemptId === undefined || !Object.hasOwn(Object(event.note), 'attemptId')) return event;
  const { after: _, ...prompt } = event.note as Readonly<Record<string, Json>>;
  const parts = prompt['type'] === 'prompt' ? rewritten(seq) : null;
  const note = parts === null ? Object(event.note) : { ...prompt, ...parts };
  return { ...event, note: { ...note, attemptId } as unknown as Json };
}

interface RecordedReply {
  readonly seq: number;
  readonly source: string;
  readonly event: CallEvent;
}

/** Returns the first reply at or after an index. The reply of an early call counts only if its phase used it. */
function nextReply(entries: readonly JournalEntry[], from: number): NextReply | null {
  for (const entry of entries.slice(from)) {
    if (entry.type !== 'activity-event') continue;
    const { seq, activity } = entry;
    const value = replyValue(entry);
    if (entry.event.type === 'reply.ended') return { seq, value, early: null };
    if (value === undefined || value === null) continue;
    const start = entries.find((one) => one.type === 'activity-start' && one.activity === activity);
    const user = entries.find(
      (one) =>
        start?.type === 'activity-start' && one.type === 'phase-end' && one.attemptId === start.subject?.attemptId,
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
