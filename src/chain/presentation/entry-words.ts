import type { StopReason } from '../../../machines/contracts/capability.ts';
import type { Decision } from '../../../machines/contracts/decision.ts';
import { type CallEvent, refusalText } from '../../../machines/contracts/events.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { ModelChange } from '../../../machines/contracts/model-status.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { type DurableEvent, idAt, type Waiting } from '../../durable/entries.ts';
import type { Queued } from '../../durable/journals/journal-store.ts';
import { count, cutEnd, grouped, oneLine } from '../../internal/printable.ts';

const LINE_CHARS = 200;

type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;

/** `failed`: something went wrong. `noted`: something is not as it should be, but no failure. */
export type EntryTrouble = 'failed' | 'noted';

/** What an entry of one type says. Readers choose which entries they show, and where. */
interface Words<Entry> {
  /** What it is, or what the run does, in a few words for any reader; null if its type says it. */
  readonly title?: (entry: Entry) => string | null;
  /** What it records, for a reader who knows its type. */
  readonly note?: (entry: Entry) => string;
  /** What the run waits for, if the entry is a question. */
  readonly waitsFor?: (entry: Entry) => string;
  readonly trouble?: (entry: Entry) => EntryTrouble | null;
}

const WORDS: { readonly [Type in JournalEntry['type']]?: Words<EntryOf<Type>> } = {
  start: { note: ({ input }) => input.request },
  attachment: { note: (entry) => `${attachmentLabel(entry)}, digest ${entry.digest}` },
  delivery: {
    title: ({ event }) => deliveryTitle(event),
    note: ({ event: { type, ...members }, actor }) =>
      `${type}${actor === '' ? '' : ` to ${valueText(actor)}`} ${membersText(members)}`,
  },
  resumed: { title: ({ wasPaused }) => (wasPaused ? 'Left the queue' : 'Resumed in a new process') },
  closed: { title: ({ waiting }) => (waiting === undefined ? null : 'Parked: not in memory while it waits') },
  stopped: { title: () => 'Stopped from outside', trouble: () => 'noted' },
  end: {
    note: ({ summary: { status, usage } }) =>
      `${status}, ${count(usage.modelCalls, 'model call')}, ${count(usage.inputTokens + usage.outputTokens, 'token')}`,
  },
  'phase-start': { note: ({ phase, cycle, step }) => `${phase}, cycle ${cycle}, step ${step}` },
  'phase-end': {
    note: ({ phase, summary, failure }) => `${phase}: ${failure === null ? start(summary) : failureText(failure)}`,
  },
  recovery: {
    title: ({ phase }) => `${capitalize(phase)} failed`,
    note: ({ phase, action }) => `${phase} failed: ${RECOVERIES[action]}`,
    trouble: () => 'noted',
  },
  decision: {
    title: ({ decision }) => `Cycle ${decision.cycle}: ${reasonOf(decision)}`,
    note: ({ decision }) => `${decision.rule} › ${decision.nextPhase ?? 'the answer'}: ${start(decision.rationale)}`,
  },
  'attempt-start': {
    title: ({ attempt, phases, task }) => {
      if (attempt > 1) return 'Trying again';
      return phases?.includes('yield') ? CALLS.yield : (CALLS[task as Task] ?? null);
    },
    note: ({ task, attempt }) => `${task}, attempt ${attempt}`,
  },
  'attempt-end': {
    note: ({ task, attempt, failure, usage, repaired = [] }) =>
      `${task}, attempt ${attempt} ${failure === null ? `succeeded, ${[count(usage.outputTokens, 'token'), ...repaired.map((one) => `repaired: ${one}`)].join(', ')}` : `failed: ${failureText(failure)}`}`,
  },
  'attempt-retry': {
    note: ({ attempt, delayMs }) =>
      `starting attempt ${attempt}${delayMs > 0 ? ` in ${grouped(Math.round(delayMs))} ms` : ''}`,
  },
  prompt: { note: ({ attemptId, digest }) => `${attemptId}, digest ${digest}` },
  'model-status': { note: ({ model, change }) => `model ${model + 1}: ${MODEL_CHANGES[change]}` },
  'text-delta': { note: ({ text }) => start(text) },
  'activity-start': {
    note: ({ source, activity, subject }) => `${source} ${activity}${about(subject?.task ?? subject?.capability)}`,
  },
  'activity-event': {
    note: ({ source, activity, event }) => `${source} ${activity}: ${callText(event)}`,
    trouble: ({ event: { type } }) => (type === 'failed' || type === 'reply.lost' ? 'failed' : null),
  },
  failed: { note: ({ actor, error }) => `${actor}: ${start(error.message)}`, trouble: () => 'failed' },
  timer: { note: ({ timer }) => `timer ${timer} elapsed` },
  'timer-start': {
    note: ({ timer, event, dueMs }) => `timer ${timer}, due ${grouped(dueMs)} ms after the start: ${event}`,
  },
  retrieval: {
    title: ({ passages, failure }) =>
      `Searching the documents: ${failure === null ? count(passages, 'passage') : 'failed'}`,
    note: ({ query, passages, widened, failure }) =>
      failure === null
        ? `${count(passages, 'passage')} found${widened ? ' by a wider search' : ''} for "${start(query)}"`
        : `failed: ${start(failure)}`,
  },
  'capability-start': {
    title: ({ capability }) => `Running ${oneLine(capability)}`,
    note: ({ capability, index }) => `${capability}, call ${index}`,
  },
  'capability-end': {
    note: ({ result }) => `${result.capability}: ${start(result.error ?? result.output)}`,
    trouble: ({ result }) => (result.success ? null : 'failed'),
  },
  'capability-stop': {
    title: ({ reason, runs }) =>
      reason === 'limit_reached' ? `Limit of tool runs reached after ${grouped(runs)}` : (STOPS[reason] ?? null),
    note: ({ reason, runs, failed, code, problem }) =>
      [`${reason.replaceAll('_', ' ')}, ${count(runs, 'run')}, ${grouped(failed)} failed`, code, problem]
        .filter(Boolean)
        .join(': '),
    trouble: ({ reason }) => {
      if (reason === 'invalid_next_step' || reason === 'decider_failed') return 'failed';
      return reason !== 'aborted' && Object.hasOwn(STOPS, reason) ? 'noted' : null;
    },
  },
  operations: { note: ({ phase, applied }) => `${phase}: ${operationsText(applied)}` },
  'context-evaluated': {
    note: ({ statistics, problem }) =>
      problem ??
      `${grouped(statistics.messagesBefore)} › ${count(statistics.messagesAfter, 'message')}, ${count(statistics.tokensAfter, 'token')}`,
  },
  'direction-asked': {
    note: ({ proposal, confidence }) => `${proposal} proposed, confidence ${confidence}`,
    waitsFor: () => 'a direction',
  },
  'direction-refused': { note: refusalText, trouble: () => 'noted' },
  'consent-asked': {
    note: ({ request }) => `${count(request.items.length, 'message')} to be shortened or removed`,
    waitsFor: ({ request }) => `consent to shorten or remove ${count(request.items.length, 'message')}`,
  },
  'consent-resolved': {
    note: ({ by, kept, summarized, removed }) =>
      `consent (${CONSENT_GIVERS[by]}): ${kept} kept, ${summarized} summarized, ${removed} removed`,
  },
  'approval-asked': {
    note: ({ capability, arguments: given }) => `${capability} ${start(JSON.stringify(given))}`,
    waitsFor: ({ capability, isClientTool }) =>
      `${isClientTool ? 'the client to run' : 'approval of'} ${oneLine(capability)}`,
  },
  'approval-resolved': {
    note: ({ capability, decision, by }) => `approval of ${capability} (${by}): ${decision.replace('_', ' ')}`,
  },
  'answer-refused': { note: ({ event, ...refusal }) => `${event}: ${refusalText(refusal)}`, trouble: () => 'noted' },
  'context-overruled': {
    note: ({ messageId, choice, undone, problem }) =>
      [
        `${choice ?? 'undo'} ${start(messageId)}`.trim(),
        ...(problem !== null
          ? [`rejected, ${problem}`]
          : undone.length > 0
            ? [`${count(undone.length, 'operation')} undone`]
            : []),
      ].join(': '),
    trouble: ({ problem }) => (problem === null ? null : 'noted'),
  },
  'session-recalled': {
    title: ({ problem }) => `Session ${problem === null ? '' : 'not '}recalled`,
    note: ({ turns, problem }) => [`${count(turns, 'turn')} recalled`, problem].filter(Boolean).join(': '),
    trouble: ({ problem }) => (problem === null ? null : 'failed'),
  },
  'session-stored': {
    title: ({ problem }) => `Session ${problem === null ? '' : 'not '}stored`,
    note: ({ problem }) => (problem === null ? 'stored' : `not stored: ${problem}`),
    trouble: ({ problem }) => (problem === null ? null : 'failed'),
  },
  answer: { note: ({ answer }) => `${answer.status}, confidence ${answer.confidence}: ${start(answer.answerText)}` },
};

const MODEL_CHANGES: Readonly<Record<ModelChange, string>> = {
  without_json: 'replied without JSON that matches the schema; the next reply form is tried',
  json: 'replies in JSON',
  prose: 'answers in prose, which is used unchanged',
  unavailable: 'does not respond and is skipped for now',
  available: 'replies again',
};

/** What a run does while it waits for a model. */
const CALLS: Readonly<Record<Task, string>> = {
  action: 'Reading the request',
  experience: 'Reading what is known',
  intention: 'Clarifying the goal',
  observation: 'Noting what matters',
  understanding: 'Reviewing the context',
  yield: 'Answering',
  continuation: 'Choosing the next step',
  summary: 'Summarizing long messages',
  synthesis: 'Writing the final answer',
  value: 'Filling in the requested format',
};

const RECOVERIES = { repeat: 'retrying', skip: 'continuing without it', finish: 'finishing with an answer' } as const;

const CONSENT_GIVERS = { user: 'user', option: 'option', default: 'not asked', 'time-out': 'no reply' } as const;

/** Why no more tools ran; ordinary ends need no words. */
const STOPS: { readonly [Reason in StopReason]?: string } = {
  limit_reached: 'Limit of tool runs reached',
  rounds_ended: 'No more rounds of tools allowed',
  same_call_repeated: 'Repeated the same tool call: not run',
  budget_exhausted: 'Budget used up: no more tools run',
  invalid_next_step: 'The next tool call is invalid',
  decider_failed: 'The decision about more tools failed',
  aborted: 'The tool runs were stopped',
};

const DELIVERIES: Readonly<Record<string, string>> = {
  'run.cancelled': 'Canceled',
  'run.interrupted': 'Interrupted',
  'run.finished': 'Told to finish',
  'run.adjusted': 'Limits changed',
  'context.overruled': 'Context operation overruled',
  'context.undone': 'Context operation undone',
  'consent.given': 'Consent answered',
};

function deliveryTitle(event: EntryOf<'delivery'>['event']): string | null {
  if (event.type === 'run.directed') return `Directed to ${event.phase}`;
  if (event.type !== 'approval.given')
    return Object.hasOwn(DELIVERIES, event.type) ? (DELIVERIES[event.type] ?? null) : null;
  const { decision, reason = '' } = event;
  const approved = event.arguments === undefined ? 'Approved' : 'Approved with changes';
  const word = { approve: approved, deny: 'Denied', respond: 'Responded with a result' }[decision];
  return [word, reason].filter(Boolean).join(': ');
}

/** Returns what the table says about an entry, which any program may have written; null if it says nothing, or the entry is malformed. */
function read<Key extends keyof Words<never>>(
  entry: JournalEntry,
  key: Key,
): ReturnType<NonNullable<Words<never>[Key]>> | null {
  const words = WORDS[entry.type]?.[key] as
    | ((entry: JournalEntry) => ReturnType<NonNullable<Words<never>[Key]>>)
    | undefined;
  try {
    return words?.(entry) ?? null;
  } catch {
    return null;
  }
}

/**
 * Describes what an entry of a run records, or an attempt or tool loop of any machine, without its type. An unknown or malformed entry is
 * described by its members. The result may contain line breaks and control characters.
 */
export const entryWords = (entry: JournalEntry): string => read(entry, 'note') ?? membersText(entry);

/** Returns what an entry is, in a few words such as `Running search`; null if its type says it. */
export function entryTitle(entry: JournalEntry): string | null {
  const waitsFor = entryWait(entry);
  return waitsFor === null ? read(entry, 'title') : `Asked for ${waitsFor}`;
}

/** Returns what a run waits for after an entry, such as `approval of refund`; null if the entry is not a question. */
export const entryWait = (entry: JournalEntry): string | null => read(entry, 'waitsFor');

/** Returns whether something went wrong, by an entry; null if it did not. */
export function entryTrouble(entry: JournalEntry): EntryTrouble | null {
  const { failure } = entry as { readonly failure?: unknown };
  return read(entry, 'trouble') ?? (failure ? 'failed' : null);
}

/** Returns when a queued actor begins, such as `begins when a worker has a free slot, priority 5`. */
export function queueText({ beginsAtMs, priority }: Queued, timeText: (atMs: number) => string | null): string {
  const time = beginsAtMs > Date.now() ? `at ${timeText(beginsAtMs)} or later` : 'when a worker has a free slot';
  return `begins ${time}${priority === 0 ? '' : `, priority ${priority}`}`;
}

type ActorWords = {
  readonly [Type in DurableEvent['type']]?: (
    entry: Extract<DurableEvent, { type: Type }>,
  ) => readonly [title: string, note?: string];
};

/** The title and note of each type of entry that runs do not have, or have with another payload. Values are readable, not as they are stored. */
const ACTOR_WORDS: ActorWords = {
  start: ({ input }) => ['Started', input == null ? '' : valueText(input)],
  effect: ({ action }) => [`Effect ${oneLine(action)}`],
  value: ({ name, value, error }) => [`Recorded ${oneLine(name)}`, error ?? valueText(value)],
  emitted: ({ event }) => {
    const { type, ...members } = Object(event) as { readonly type?: unknown };
    return [`Emitted ${oneLine(String(type))}`, membersText(members)];
  },
  note: ({ note }) => ['Note', valueText(note)],
  failed: ({ actor, error }) => [`${oneLine(actor === '' ? 'Actor' : idAt(actor))} failed`, errorText(error)],
  resumed: ({ wasPaused }) => [wasPaused ? 'Began after a pause' : 'Continued'],
  closed: ({ waiting }) => [
    waiting === undefined ? 'Closed by its process' : 'Parked',
    waiting === undefined ? '' : waitText(waiting),
  ],
  stopped: () => ['Stopped from outside'],
  retried: ({ failed, isSkipped }) => [
    isSkipped ? 'Skipped' : 'Retried',
    `${isSkipped ? 'what failed in ' : ''}the step of entry ${failed}`,
  ],
  queued: ({ priority, key }) => [
    'Queued',
    [...(priority === 0 ? [] : [`priority ${priority}`]), ...(key === undefined ? [] : [`key ${oneLine(key)}`])].join(
      ', ',
    ),
  ],
  quarantined: ({ reason }) => ['Quarantined', valueText(reason)],
  released: () => ['Released', 'workers continue it again'],
  migrated: ({ machine, state }) => [
    `Migrated to version ${oneLine(machine.version ?? '')}`,
    `in ${innermost(state.snapshot.nodes).join(', ')}`,
  ],
  'activity-event': ({ source, activity, event }) => [`${oneLine(source)} ${activity}`, reportText(event)],
  end: ({ status, output, error }) => {
    if (status === 'done') return ['Completed', output == null ? '' : valueText(output)];
    return status === 'error' ? ['Failed', errorText(error)] : ['Stopped'];
  },
};

const innermost = (ids: readonly string[]): readonly string[] =>
  ids.filter((id) => !ids.some((other) => other.startsWith(`${id}.`)));

/** What an activity reports: its result, or an event. */
function reportText(event: unknown): string {
  const { type, data, ...members } = Object(event) as { readonly type?: unknown; readonly data?: unknown };
  if (type === 'xstate.promise.resolve') return data === undefined ? 'settled' : `settled ${valueText(data)}`;
  if (type === 'xstate.promise.reject') return `failed: ${errorText(data)}`;
  return `${type} ${membersText(members)}`.trim();
}

function errorText(error: unknown): string {
  const { message = error } = Object(error) as { readonly message?: unknown };
  return valueText(message);
}

function waitText({ events, dueAtMs, approvals = [] }: Waiting): string {
  const asked = approvals.map(({ question }) => {
    const about = typeof question === 'object' && question !== null ? membersText(question) : valueText(question);
    return `the approval of ${about}`;
  });
  const others = events.filter((type) => asked.length === 0 || type !== 'approval.given');
  const all = [...asked, ...others, ...(dueAtMs === null ? [] : ['a timer'])];
  return `not in memory${all.length === 0 ? '' : ` until ${all.join(' or ')}`}`;
}

function actorWords(entry: DurableEvent): readonly [title: string, note?: string] | null {
  const words = Object.hasOwn(ACTOR_WORDS, entry.type)
    ? (ACTOR_WORDS[entry.type] as (entry: DurableEvent) => readonly [string, string?])
    : undefined;
  try {
    return words?.(entry) ?? null;
  } catch {
    return null;
  }
}

/** Returns what an entry of an actor of any machine is, in a few words; null if its type says it. */
export const actorEntryTitle = (entry: DurableEvent): string | null => actorWords(entry)?.[0] ?? null;

/** Returns what an entry of an actor of any machine records in addition to its title. */
export const actorEntryNote = (entry: DurableEvent): string => actorWords(entry)?.[1] ?? '';

/** Describes what an entry of an actor of any machine records. */
export const actorEntryWords = (entry: DurableEvent): string =>
  actorWords(entry)?.filter(Boolean).join(': ') ?? entryWords(entry as JournalEntry);

const PROGRESS: ReadonlySet<string> = new Set<JournalEntry['type']>([
  'attempt-start',
  'retrieval',
  'capability-start',
  'decision',
]);

/** Returns a line of progress for a person who waits for the answer; null if the entry has none. */
export function progressLine(entry: JournalEntry): string | null {
  const waitsFor = entryWait(entry);
  if (waitsFor !== null) return `Waiting for ${waitsFor}`;
  return PROGRESS.has(entry.type) ? entryTitle(entry) : null;
}

/** A decision to complete ends with the values it compared, which `show --all` and the inspector print. */
export function reasonOf({ complete, rationale }: Decision): string {
  return oneLine(complete ? rationale.replace(/ \([^()]*\)$/u, '') : rationale);
}

function callText(event: CallEvent): string {
  switch (event.type) {
    case 'failed':
      return `failed, ${event.error.name}: ${start(event.error.message)}`;
    case 'done':
      return `settled ${valueText(event.output ?? '')}`;
    case 'reply.lost':
      return event.type;
    default:
      return `${event.type}, ${count(event.chars, 'character')}`;
  }
}

function operationsText(applied: EntryOf<'operations'>['applied']): string {
  const counts = new Map<string, number>();
  for (const { operation } of applied) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return [...counts].map(([operation, count]) => `${count} ${operation}`).join(', ') || 'nothing to do';
}

export function membersText(facts: object): string {
  return Object.entries(facts)
    .filter(([name, value]) => !HIDDEN.has(name) && value !== '')
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

/** Members that are shown elsewhere, or only for programs. */
const HIDDEN: ReadonlySet<string> = new Set(['seq', 'atMs', 'type', 'sum', 'shownDigest']);

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const about = (subject: string | undefined): string => (subject === undefined ? '' : `, ${subject}`);
export const failureText = ({ stage, code, message }: Failure): string =>
  stage === 'aborted' ? start(message) : `${stage}/${code}: ${start(message)}`;

/** The start of a text that may be megabytes long. */
const start = (text: string): string => firstChars(text, LINE_CHARS);

export function valueText(value: unknown): string {
  if (typeof value === 'string') return cutEnd(value, LINE_CHARS);
  if (Array.isArray(value) && value.length > 20) return `${grouped(value.length)} items`;
  return cutEnd(JSON.stringify(value) ?? '', LINE_CHARS);
}
