import { type CallEvent, refusalText } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ModelChange } from '../../machines/contracts/model-status.ts';
import { attachmentLabel } from '../../machines/policies/message-parts.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';
import type { EntryOf } from '../fold/entry-index.ts';
import { humanizeEvent } from '../fold/explain.ts';
import { formatNumber, pluralize } from '../fold/format.ts';
import { excerpt, startOf, stateName } from '../fold/text.ts';

const LINE_CHARS = 200;

type Summarize<Type extends JournalEntry['type']> = (entry: EntryOf<Type>) => string;

const MODEL_CHANGES: Readonly<Record<ModelChange, string>> = {
  without_json: 'replied without JSON that matches the schema; the next reply form is tried',
  json: 'replies in JSON',
  prose: 'answers in prose, which is used unchanged',
  unavailable: 'does not respond and is skipped for now',
  available: 'replies again',
};

const summaries: { readonly [Type in JournalEntry['type']]?: Summarize<Type> } & StateSummaries = {
  start: ({ input }) => input.request,
  attachment: (entry) => `${attachmentLabel(entry)}, digest ${entry.digest}`,
  end: ({ summary: { status, usage } }) =>
    `${status}, ${pluralize(usage.modelCalls, 'model call')}, ${pluralize(usage.inputTokens + usage.outputTokens, 'token')}`,
  'phase-start': ({ phase, cycle, step }) => `${phase}, cycle ${cycle}, step ${step}`,
  'phase-end': ({ phase, summary, failure }) => {
    if (failure?.stage === 'aborted') return `${phase}: ${start(failure.message)}`;
    return failure === null ? `${phase}: ${start(summary)}` : `${phase} failed: ${failureText(failure)}`;
  },
  recovery: ({ phase, action, failure }) => `${phase}: ${action}, after ${failureText(failure)}`,
  decision: ({ decision }) => `${decision.rule} › ${decision.nextPhase ?? 'the answer'}: ${start(decision.rationale)}`,
  transition,
  'attempt-start': ({ task, attempt }) => `${task}, attempt ${attempt}`,
  'attempt-end': ({ task, attempt, failure, usage, repaired = [] }) =>
    `${task}, attempt ${attempt} ${failure === null ? `succeeded, ${[pluralize(usage.outputTokens, 'token'), ...repaired.map((one) => `repaired: ${one}`)].join(', ')}` : `failed: ${failureText(failure)}`}`,
  'attempt-retry': ({ attempt, delayMs }) => `attempt ${attempt} follows in ${formatNumber(Math.round(delayMs))} ms`,
  prompt: ({ attemptId, digest }) => `${attemptId}, digest ${digest}`,
  'model-status': ({ model, change }) => `model ${model + 1}: ${MODEL_CHANGES[change]}`,
  'text-delta': ({ text }) => start(text),
  'activity-start': ({ source, activity, subject }) =>
    `${source} ${activity}${about(subject?.task ?? subject?.capability)}`,
  'activity-event': ({ source, activity, event }) => `${source} ${activity}: ${callText(event)}`,
  failed: ({ actor, error }) => `${actor}: ${start(error.message)}`,
  timer: ({ timer }) => `delay ${timer} elapsed`,
  'timer-start': ({ timer, event, dueMs }) => `delay ${timer} until ${formatNumber(dueMs)} ms: ${event}`,
  retrieval: ({ query, passages, widened, failure }) =>
    `${failure ?? `${pluralize(passages, 'passage')}${widened ? ', widened' : ''}`} for ${start(query)}`,
  'capability-start': ({ capability, index }) => `${capability}, call ${index}`,
  'capability-end': ({ result }) =>
    `${result.capability}: ${start(result.success ? result.output : (result.error ?? ''))}`,
  operations: ({ phase, applied }) => `${phase}: ${operationsText(applied)}`,
  'context-evaluated': ({ statistics, problem }) =>
    problem ??
    `${formatNumber(statistics.messagesBefore)} › ${pluralize(statistics.messagesAfter, 'message')}, ${pluralize(statistics.tokensAfter, 'token')}`,
  delivery,
  'direction-asked': ({ proposal, confidence }) => `${proposal} proposed, confidence ${confidence}`,
  'consent-asked': ({ request }) => `${pluralize(request.items.length, 'message')} to be shortened or removed`,
  'approval-asked': ({ capability, arguments: given }) => `${capability} ${start(JSON.stringify(given))}`,
  'approval-resolved': ({ capability, decision, by }) => `${capability}: ${decision.replace('_', ' ')} (${by})`,
  'answer-refused': ({ event, ...refusal }) => `${event}: ${refusalText(refusal)}`,
  'context-overruled': ({ messageId, choice, problem }) =>
    `${choice ?? 'undo'} ${start(messageId)}${problem === null ? '' : `: rejected, ${problem}`}`,
  state: ({ changes }) => changes.map(({ path }) => path.join('.')).join(', '),
  keyframe: () => 'the complete state',
  noted: ({ actor, text, data }) => `${actor}: ${text} ${data === undefined ? '' : valueText(data)}`,
  answer: ({ answer }) => `${answer.status}, confidence ${answer.confidence}: ${start(answer.answerText)}`,
};

/** Observed systems record the contexts of their actors. */
interface StateSummaries {
  readonly state: (entry: Extract<SystemEntry, { type: 'state' }>) => string;
  readonly keyframe: () => string;
  readonly noted: (entry: Extract<SystemEntry, { type: 'noted' }>) => string;
}

/** An unknown or malformed entry is summarized by its members. */
export function entryLine(entry: JournalEntry): string {
  const summarize = summaries[entry.type] as ((entry: JournalEntry) => string) | undefined;
  try {
    return excerpt(summarize?.(entry) ?? membersText(entry), LINE_CHARS);
  } catch {
    return excerpt(membersText(entry), LINE_CHARS);
  }
}

/** Source, targets, event, and each evaluated guard with its result and inputs. */
function transition({ machine, event, source, target, candidates }: EntryOf<'transition'>): string {
  const guards = candidates
    .filter(({ guard, result }) => guard !== null && result !== 'not-evaluated')
    .map(({ guard, result, inputs }) => `${guard} ${result === 'taken' ? 'taken' : 'false'}${inputsText(inputs)}`);
  const path = `${stateName(source)} › ${target.map(stateName).join(', ') || 'stays'}`;
  const on = event === '' ? '' : `, on ${humanizeEvent(event)}`;
  return [`${machine}: ${path}${on}`, ...guards].join('; ');
}

function inputsText(inputs: Readonly<Record<string, unknown>> | null): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${valueText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function callText(event: CallEvent): string {
  switch (event.type) {
    case 'failed':
      return `broken, ${event.error.name}: ${start(event.error.message)}`;
    case 'done':
      return `settled ${valueText(event.output ?? '')}`;
    case 'reply.lost':
      return event.type;
    default:
      return `${event.type}, ${pluralize(event.chars, 'character')}`;
  }
}

/** In other actor systems, names the receiving actor. */
function delivery({ event, ...entry }: EntryOf<'delivery'>): string {
  const { type, ...members } = event;
  const actor = entry.actor === '' ? '' : ` to ${valueText(entry.actor)}`;
  return `${type}${actor} ${membersText(members)}`;
}

function operationsText(applied: EntryOf<'operations'>['applied']): string {
  const counts = new Map<string, number>();
  for (const { operation } of applied) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return [...counts].map(([operation, count]) => `${count} ${operation}`).join(', ') || 'nothing to do';
}

function membersText(facts: object): string {
  return Object.entries(facts)
    .filter(([name]) => !PLACE.has(name))
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

const PLACE: ReadonlySet<string> = new Set(['seq', 'atMs', 'type', 'sum']);

const about = (subject: string | undefined): string => (subject === undefined ? '' : `, ${subject}`);
const failureText = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  `${code}, ${start(message)}`;

/** The start of a text that may be megabytes long. */
const start = (text: string): string => startOf(text, LINE_CHARS);

function valueText(value: unknown): string {
  if (typeof value === 'string') return start(value);
  if (Array.isArray(value) && value.length > 20) return `${formatNumber(value.length)} items`;
  return start(JSON.stringify(value) ?? '');
}
