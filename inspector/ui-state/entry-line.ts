import type { CallEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { eventInWords } from '../fold/explain.ts';
import { counted, grouped } from '../fold/format.ts';
import type { EntryOf } from '../fold/places.ts';
import { shortly, stateName } from './text.ts';

const LINE_CHARS = 200;

type Teller<Type extends JournalEntry['type']> = (entry: EntryOf<Type>) => string;

/** One-line summaries by entry type. Other types are summarized by their members. */
const tellers: { readonly [Type in JournalEntry['type']]?: Teller<Type> } = {
  'run-start': ({ request }) => request,
  'run-end': ({ status, usage }) =>
    `${status}, ${counted(usage.modelCalls, 'model call')}, ${counted(usage.inputTokens + usage.outputTokens, 'token')}`,
  'phase-start': ({ phase, cycle, step }) => `${phase}, cycle ${cycle}, step ${step}`,
  'phase-end': ({ phase, summary, failure }) =>
    failure === null ? `${phase}: ${start(summary)}` : `${phase} failed: ${told(failure)}`,
  recovery: ({ phase, how, failure }) => `${phase}: ${how}, after ${told(failure)}`,
  decision: ({ decision }) => `${decision.rule} › ${decision.nextPhase ?? 'the answer'}: ${start(decision.rationale)}`,
  transition,
  'attempt-start': ({ task, attempt }) => `${task}, attempt ${attempt}`,
  'attempt-end': ({ task, attempt, failure, usage }) =>
    `${task}, attempt ${attempt} ${failure === null ? `succeeded, ${counted(usage.outputTokens, 'token')}` : `failed: ${told(failure)}`}`,
  'attempt-retry': ({ attempt, inMs }) => `attempt ${attempt} follows in ${grouped(Math.round(inMs))} ms`,
  'text-delta': ({ text }) => start(text),
  'call-start': ({ port, call, task, capability }) => `${port} ${call}${about(task ?? capability)}`,
  'call-event': ({ port, call, event }) => `${port} ${call}: ${callText(event)}`,
  timer: ({ timer }) => `delay ${timer} elapsed`,
  retrieval: ({ query, passages, widened, failure }) =>
    `${failure ?? `${counted(passages, 'passage')}${widened ? ', widened' : ''}`} for ${start(query)}`,
  'capability-start': ({ capability, index }) => `${capability}, run ${index + 1}`,
  'capability-end': ({ result }) =>
    `${result.capability}: ${start(result.success ? result.output : (result.error ?? ''))}`,
  operations: ({ phase, applied }) => `${phase}: ${operationsText(applied)}`,
  'context-evaluated': ({ statistics, problem }) =>
    problem ??
    `${grouped(statistics.messagesBefore)} › ${counted(statistics.messagesAfter, 'message')}, ${counted(statistics.tokensAfter, 'token')}`,
  delivery,
  'direction-asked': ({ proposal, confidence }) => `${proposal} proposed, confidence ${confidence}`,
  'consent-asked': ({ request }) => `${counted(request.items.length, 'message')} to be shortened`,
  state: ({ changes }) => changes.map(({ path }) => path.join('.')).join(', '),
  keyframe: () => 'all of the state',
  answer: ({ answer }) => `${answer.status}, confidence ${answer.confidence}: ${start(answer.answerText)}`,
};

/** Summarizes a journal entry in one line. An unknown or malformed entry is summarized by its members. */
export function entryLine(entry: JournalEntry): string {
  const tell = tellers[entry.type] as ((entry: JournalEntry) => string) | undefined;
  try {
    return shortly(tell?.(entry) ?? membersText(entry), LINE_CHARS);
  } catch {
    return shortly(membersText(entry), LINE_CHARS);
  }
}

/** Whether something failed in it. */
export function isBad(entry: JournalEntry): boolean {
  if ('failure' in entry && entry.failure) return true;
  if (entry.type === 'call-event') return entry.event?.type === 'broken' || entry.event?.type === 'reply.lost';
  return entry.type === 'capability-end' && entry.result?.success === false;
}

/** Source, targets, event, and each evaluated guard with its result and inputs. */
function transition({ machine, event, source, target, candidates }: EntryOf<'transition'>): string {
  const asked = candidates
    .filter(({ guard, verdict }) => guard !== null && verdict !== 'not-evaluated')
    .map(({ guard, verdict, inputs }) => `${guard} ${verdict === 'taken' ? 'taken' : 'false'}${inputsText(inputs)}`);
  const way = `${stateName(source)} › ${target.map(stateName).join(', ') || 'itself'}`;
  const on = event === '' ? '' : `, on ${eventInWords(event)}`;
  return [`${machine}: ${way}${on}`, ...asked].join('; ');
}

function inputsText(inputs: Readonly<Record<string, unknown>> | null): string {
  const pairs = Object.entries(inputs ?? {}).map(([name, value]) => `${name} ${valueText(value)}`);
  return pairs.length === 0 ? '' : ` (${pairs.join(', ')})`;
}

function callText(event: CallEvent): string {
  switch (event.type) {
    case 'broken':
      return `broken, ${event.error.name}: ${start(event.error.message)}`;
    case 'settled':
      return `settled ${valueText(event.output ?? '')}`;
    case 'reply.lost':
      return event.type;
    default:
      return `${event.type}, ${counted(event.chars, 'character')}`;
  }
}

/** In other actor systems, names the receiving actor. */
function delivery({ event, ...entry }: EntryOf<'delivery'>): string {
  const { type, ...said } = event;
  const actor = 'actor' in entry ? ` to ${valueText(entry.actor)}` : '';
  return `${type}${actor} ${membersText(said)}`;
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
const told = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  `${code}, ${start(message)}`;

/** No more of a text than a line can hold: it may be megabytes. */
const start = (text: string): string => text.slice(0, LINE_CHARS);

function valueText(value: unknown): string {
  if (typeof value === 'string') return start(value);
  if (Array.isArray(value) && value.length > 20) return `${grouped(value.length)} items`;
  return start(JSON.stringify(value) ?? '');
}
