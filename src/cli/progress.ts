import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { ContextStatistics, Pruning } from '../../machines/contracts/phase-io.ts';

import type { PartialUpdate, RunEvent } from '../engine/runtime/run-events.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import type { Entry, Screen } from './screen.ts';

/** The field of each task's reply that people want to see grow. */
const SHOWN: Record<Task, string> = {
  action: 'response',
  experience: 'summary',
  intention: 'goal',
  observation: 'insights',
  understanding: 'integrated',
  yield: 'answer',
  continuation: 'finalOutput',
  summary: '',
  synthesis: 'answerText',
};

/** Shows a run as it goes: a fold of its events into lines. */
export function createProgress(screen: Screen): (event: RunEvent) => void {
  let startedAtMs = 0;
  let cycle = 0;
  let asked = false;
  let below: readonly Entry[] = [];
  return (event) => {
    if (event.type === 'partial') return screen.status(event.task, partialText(event));
    if (event.type === 'phase-start') {
      startedAtMs = event.atMs;
      if (event.cycle !== cycle) screen.line(`Cycle ${event.cycle}`);
      cycle = event.cycle;
      asked = false;
      screen.status(event.phase, '');
    }
    if (event.type === 'consent-asked') asked = true;
    if (event.type === 'context-evaluated') below = contextLines(event, asked);
    const entry = entryOf(event, event.atMs - startedAtMs);
    if (entry !== null) screen.entry(entry);
    if (event.type === 'phase-end') {
      for (const line of below) screen.entry(line);
      below = [];
    }
  };
}

function entryOf(event: JournalEntry, ms: number): Entry | null {
  const aside = (text: string): Entry => ({ text, tone: 'aside' });
  switch (event.type) {
    case 'phase-end':
      return event.failure === null
        ? { name: event.phase, ms, text: oneLine(event.summary) || '–' }
        : { name: event.phase, ms, text: problem(event.failure), tone: 'bad' };
    case 'attempt-end':
      return event.failure === null ? null : aside(`attempt ${event.attempt} void: ${problem(event.failure)}`);
    case 'attempt-retry':
      return aside(`attempt ${event.attempt}${event.inMs > 0 ? ` in ${Math.round(event.inMs)} ms` : ' now'}`);
    case 'retrieval':
      return aside(retrievalText(event));
    case 'capability-end':
      return aside(`${event.result.capability}: ${oneLine(event.result.error ?? event.result.output).slice(0, 160)}`);
    case 'session-recalled':
      return sessionEntry(event);
    case 'session-stored':
      return event.problem === null
        ? null
        : { text: `not stored: ${oneLine(event.problem)}`, tone: 'bad', name: 'session' };
    case 'recovery':
      return aside(`${event.phase} failed: ${RECOVERY[event.how]}`);
    case 'decision':
      return { name: 'decision', text: `${event.decision.rule}: ${oneLine(event.decision.rationale)}` };
    case 'direction-refused':
      return aside(`"${oneLine(event.got)}" is no phase`);
    case 'consent-resolved':
      return aside(
        `consent (${event.by}): ${event.kept} kept, ${event.summarised} summarised, ${event.removed} removed`,
      );
    default:
      return null;
  }
}

const RECOVERY = { again: 'it is tried again', skip: 'on without it', finish: 'straight to the answer' } as const;

function sessionEntry({ turns, problem: why }: Extract<JournalEntry, { type: 'session-recalled' }>): Entry {
  const recalled = { name: 'session', text: `${count(turns, 'turn')} recalled` };
  return why === null ? recalled : { name: 'session', text: `${recalled.text}: ${oneLine(why)}`, tone: 'bad' };
}

const problem = ({ stage, code, message }: Failure): string => `${stage}/${code}: ${oneLine(message)}`;

function retrievalText({ passages, widened, failure }: Extract<JournalEntry, { type: 'retrieval' }>): string {
  if (failure !== null) return `the documents cannot be searched: ${oneLine(failure)}`;
  return `${passages} ${passages === 1 ? 'passage' : 'passages'} found${widened ? ' by a wider search' : ''}`;
}

/** The end of the text that grows: only that is looked at, however long it is. */
function partialText({ task, value }: PartialUpdate): string {
  const shown = (value as Record<string, unknown> | null)?.[SHOWN[task]];
  const text = Array.isArray(shown) ? shown.at(-1) : shown;
  return typeof text === 'string' ? oneLine(text.slice(-400)) : '';
}

const MAX_LOSSES = 5;

type Evaluated = Extract<JournalEntry, { type: 'context-evaluated' }>;

/** What became of the context, in lines of progress [U13]: none where nothing was touched, asked, over a limit or wrong. */
function contextLines({ statistics, pruningLog, problem }: Evaluated, asked: boolean): readonly Entry[] {
  const { pruned, summarised } = statistics;
  const over = overText(statistics);
  const lines: Entry[] = [];
  if (asked || pruned + summarised > 0 || over !== null) lines.push(aside(sizeText(statistics)));
  for (const loss of pruningLog.slice(0, MAX_LOSSES)) lines.push(aside(lossText(loss)));
  if (pruningLog.length > MAX_LOSSES) lines.push(aside(`… and ${grouped(pruningLog.length - MAX_LOSSES)} more`));
  if (over !== null) lines.push({ text: over, tone: 'bad' });
  if (problem !== null) lines.push(aside(`not measured: ${oneLine(problem)}`));
  return lines;
}

const aside = (text: string): Entry => ({ text, tone: 'aside' });

function sizeText(statistics: ContextStatistics): string {
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter, tokensAllowed, estimated } = statistics;
  const messages = `${grouped(messagesAfter)} of ${count(messagesBefore, 'message')}`;
  const tokens = `${grouped(tokensAfter)} of ${count(tokensBefore, 'token')}`;
  return `kept ${messages}, ${tokens} (${estimated ? 'estimated, ' : ''}${grouped(tokensAllowed)} allowed)`;
}

function overText({ tokensOver, messagesOver }: ContextStatistics): string | null {
  const over = [
    ...(tokensOver > 0 ? [count(tokensOver, 'token')] : []),
    ...(messagesOver > 0 ? [count(messagesOver, 'message')] : []),
  ];
  return over.length === 0 ? null : `still over the limit, by ${over.join(' and ')}: nothing more may go unasked`;
}

function lossText({ operation, messageId, role, reason }: Pruning): string {
  return `${operation === 'PRUNE' ? 'pruned' : 'summarised'} ${oneLine(messageId)} (${role}): ${oneLine(reason)}`;
}
