import { type CallEvent, refusalText } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { ModelChange } from '../../../machines/contracts/model-status.ts';
import { attachmentLabel } from '../../../machines/policies/message-parts.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { count, cutEnd, grouped } from '../../internal/printable.ts';

const LINE_CHARS = 200;

type EntryOf<Type extends JournalEntry['type']> = Extract<JournalEntry, { type: Type }>;
type Words<Type extends JournalEntry['type']> = (entry: EntryOf<Type>) => string;

const MODEL_CHANGES: Readonly<Record<ModelChange, string>> = {
  without_json: 'replied without JSON that matches the schema; the next reply form is tried',
  json: 'replies in JSON',
  prose: 'answers in prose, which is used unchanged',
  unavailable: 'does not respond and is skipped for now',
  available: 'replies again',
};

const WORDS: { readonly [Type in JournalEntry['type']]?: Words<Type> } = {
  start: ({ input }) => input.request,
  attachment: (entry) => `${attachmentLabel(entry)}, digest ${entry.digest}`,
  end: ({ summary: { status, usage } }) =>
    `${status}, ${count(usage.modelCalls, 'model call')}, ${count(usage.inputTokens + usage.outputTokens, 'token')}`,
  'phase-start': ({ phase, cycle, step }) => `${phase}, cycle ${cycle}, step ${step}`,
  'phase-end': ({ phase, summary, failure }) => {
    if (failure?.stage === 'aborted') return `${phase}: ${start(failure.message)}`;
    return failure === null ? `${phase}: ${start(summary)}` : `${phase} failed: ${failureText(failure)}`;
  },
  recovery: ({ phase, action, failure }) => `${phase}: ${action}, after ${failureText(failure)}`,
  decision: ({ decision }) => `${decision.rule} › ${decision.nextPhase ?? 'the answer'}: ${start(decision.rationale)}`,
  'attempt-start': ({ task, attempt }) => `${task}, attempt ${attempt}`,
  'attempt-end': ({ task, attempt, failure, usage, repaired = [] }) =>
    `${task}, attempt ${attempt} ${failure === null ? `succeeded, ${[count(usage.outputTokens, 'token'), ...repaired.map((one) => `repaired: ${one}`)].join(', ')}` : `failed: ${failureText(failure)}`}`,
  'attempt-retry': ({ attempt, delayMs }) => `attempt ${attempt} follows in ${grouped(Math.round(delayMs))} ms`,
  prompt: ({ attemptId, digest }) => `${attemptId}, digest ${digest}`,
  'model-status': ({ model, change }) => `model ${model + 1}: ${MODEL_CHANGES[change]}`,
  'text-delta': ({ text }) => start(text),
  'activity-start': ({ source, activity, subject }) =>
    `${source} ${activity}${about(subject?.task ?? subject?.capability)}`,
  'activity-event': ({ source, activity, event }) => `${source} ${activity}: ${callText(event)}`,
  failed: ({ actor, error }) => `${actor}: ${start(error.message)}`,
  timer: ({ timer }) => `delay ${timer} elapsed`,
  'timer-start': ({ timer, event, dueMs }) => `delay ${timer} until ${grouped(dueMs)} ms: ${event}`,
  retrieval: ({ query, passages, widened, failure }) =>
    `${failure ?? `${count(passages, 'passage')}${widened ? ', widened' : ''}`} for ${start(query)}`,
  'capability-start': ({ capability, index }) => `${capability}, call ${index}`,
  'capability-end': ({ result }) =>
    `${result.capability}: ${start(result.success ? result.output : (result.error ?? ''))}`,
  operations: ({ phase, applied }) => `${phase}: ${operationsText(applied)}`,
  'context-evaluated': ({ statistics, problem }) =>
    problem ??
    `${grouped(statistics.messagesBefore)} › ${count(statistics.messagesAfter, 'message')}, ${count(statistics.tokensAfter, 'token')}`,
  'direction-asked': ({ proposal, confidence }) => `${proposal} proposed, confidence ${confidence}`,
  'consent-asked': ({ request }) => `${count(request.items.length, 'message')} to be shortened or removed`,
  'approval-asked': ({ capability, arguments: given }) => `${capability} ${start(JSON.stringify(given))}`,
  'approval-resolved': ({ capability, decision, by }) => `${capability}: ${decision.replace('_', ' ')} (${by})`,
  'answer-refused': ({ event, ...refusal }) => `${event}: ${refusalText(refusal)}`,
  'context-overruled': ({ messageId, choice, problem }) =>
    `${choice ?? 'undo'} ${start(messageId)}${problem === null ? '' : `: rejected, ${problem}`}`,
  answer: ({ answer }) => `${answer.status}, confidence ${answer.confidence}: ${start(answer.answerText)}`,
};

/**
 * Describes what an entry of a run records, or an attempt or tool loop of any machine, without its type. Entries come from journals, which
 * anything may have written: an unknown or malformed one is described by its members. The result may contain line breaks and control characters.
 */
export function entryWords(entry: JournalEntry): string {
  const words = WORDS[entry.type] as ((entry: JournalEntry) => string) | undefined;
  try {
    return words?.(entry) ?? membersText(entry);
  } catch {
    return membersText(entry);
  }
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
    .filter(([name, value]) => !PLACE.has(name) && value !== '')
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(', ');
}

const PLACE: ReadonlySet<string> = new Set(['seq', 'atMs', 'type', 'sum']);

const about = (subject: string | undefined): string => (subject === undefined ? '' : `, ${subject}`);
const failureText = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  `${code}, ${start(message)}`;

/** The start of a text that may be megabytes long. */
const start = (text: string): string => firstChars(text, LINE_CHARS);

export function valueText(value: unknown): string {
  if (typeof value === 'string') return cutEnd(value, LINE_CHARS);
  if (Array.isArray(value) && value.length > 20) return `${grouped(value.length)} items`;
  return cutEnd(JSON.stringify(value) ?? '', LINE_CHARS);
}
