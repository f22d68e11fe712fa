import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { ContextStatistics, Pruning } from '../../machines/contracts/phase-io.ts';
import { lastChars } from '../../machines/text/clip.ts';
import { phaseFinding, replyValue } from '../chain/journal/phase-finding.ts';
import { entryTrouble, entryWords, failureText, reasonOf } from '../chain/presentation/entry-words.ts';
import type { RunEvent } from '../chain/runtime/run-events.ts';
import { count, cutEnd, grouped, oneLine } from '../internal/printable.ts';
import { foldedLines, type PhaseLine } from './phase-lines.ts';
import type { Entry, Screen } from './screen.ts';

/** More than the status line of a terminal can show. */
const SHOWN_CHARS = 400;

export function createProgress(screen: Screen): (event: RunEvent) => void {
  const findingOf = createFindings();
  let startedAtMs = 0;
  let cycle = 0;
  let askedConsent = false;
  let contextEntries: readonly Entry[] = [];
  /** What happened in the current phase: printed below its line. */
  let inPhase: PhaseLine[] = [];
  /** Phases without a model call whose line is not printed yet. */
  let idle: Entry[] = [];
  /** The search starts with Action; its result is shown with Experience. */
  let search: Entry | null = null;
  let phase: Phase | null = null;
  /** The end of the answer so far. */
  let answer = '';
  /** Events held back while the user is asked for consent: the progress of an early call would be printed over the question. */
  let held: JournalEntry[] | null = null;
  const printIdle = (): void => {
    const names = idle.map(({ name }) => name).join(', ');
    for (const entry of idle.length > 1 ? [aside(`${NO_CALL} in ${names}`)] : idle) screen.entry(entry);
    idle = [];
  };
  const print = (entry: Entry): void => {
    printIdle();
    screen.entry(entry);
  };
  const endPhase = (event: Extract<JournalEntry, { type: 'phase-end' }>, own: Entry): void => {
    const { lines, attempts } = foldedLines(inPhase, event.failure === null ? null : own.text);
    inPhase = [];
    const below = [...lines, ...contextEntries];
    contextEntries = [];
    if (own.text === NO_CALL && below.length === 0) idle.push(own);
    else
      for (const entry of [attempts > 1 ? { ...own, text: `${own.text} (${attempts} attempts)` } : own, ...below])
        print(entry);
  };
  const show = (event: RunEvent): void => {
    if (!('seq' in event)) {
      if (event.type === 'partial') return;
      answer = event.type === 'answer-delta' ? lastChars(answer + event.text, SHOWN_CHARS) : '';
      screen.status('answer', oneLine(answer));
      return;
    }
    if (event.type === 'phase-start') {
      startedAtMs = event.atMs;
      if (event.cycle !== cycle) {
        printIdle();
        screen.line(`Cycle ${event.cycle}`);
      }
      cycle = event.cycle;
      askedConsent = false;
      phase = event.phase;
      if (search !== null && phase === 'experience') {
        print(search);
        search = null;
      }
      screen.status(phase, '');
    }
    if (event.type === 'consent-asked') askedConsent = true;
    if (event.type === 'context-evaluated') contextEntries = contextLines(event, askedConsent);
    const entry = entryOf(event, findingOf(event), event.atMs - startedAtMs);
    if (ENDS_LINES.has(event.type)) {
      for (const line of foldedLines(inPhase, null).lines) print(line);
      inPhase = [];
      printIdle();
    }
    if (entry === null) return;
    if (event.type === 'phase-end') endPhase(event, entry);
    else if (event.type === 'retrieval' && phase !== 'experience') search = entry;
    else if (entry.name !== undefined || phase === null || ENDS_LINES.has(event.type)) print(entry);
    else {
      inPhase.push({ event, entry });
      screen.status(phase, entry.text);
    }
  };
  return (event) => {
    if (held === null) show(event);
    else if (event.type === 'consent-resolved' || event.type === 'phase-end' || event.type === 'end') {
      const waiting = held;
      held = null;
      for (const each of [...waiting, event]) show(each);
    } else if ('seq' in event) held.push(event);
    if (event.type === 'consent-asked') held = [];
  };
}

const NO_CALL = 'no model call';

/** Before a question, its answer, and the end of a run, everything is printed. */
const ENDS_LINES: ReadonlySet<JournalEntry['type']> = new Set([
  'approval-asked',
  'approval-resolved',
  'consent-asked',
  'consent-resolved',
  'direction-asked',
  'direction-refused',
  'answer-refused',
  'recovery',
  'decision',
  'stopped',
  'answer',
  'end',
]);

/** Returns a function that takes a run's entries in order and returns what a phase found at its end; empty if that is unknown. */
function createFindings(): (entry: JournalEntry) => string {
  const calls = new Map<number, CallStart>();
  const replies = new Map<string | undefined, { readonly task: string | undefined; readonly value: unknown }>();
  return (entry) => {
    if (entry.type === 'activity-start') calls.set(entry.activity, entry);
    const value = entry.type === 'activity-event' ? replyValue(entry) : undefined;
    if (entry.type === 'activity-event' && value !== undefined) {
      const { attemptId, task } = calls.get(entry.activity)?.subject ?? {};
      replies.set(attemptId, { task, value });
    }
    if (entry.type !== 'phase-end') return '';
    if (entry.failure === null && entry.attemptId === null) return NO_CALL;
    const reply = replies.get(entry.attemptId ?? '');
    const finding = phaseFinding(entry.phase, reply?.value);
    return finding === '' || reply?.task === entry.phase ? finding : `${finding} (call of ${reply?.task})`;
  };
}

type CallStart = Extract<JournalEntry, { type: 'activity-start' }>;

/** Entries with a line of their own, in the words of `show --all`, and the name at its start. */
const NAMES: { readonly [Type in JournalEntry['type']]?: string } = {
  'attempt-end': '',
  'attempt-retry': '',
  'model-status': '',
  // It stands between two phases.
  retrieval: 'search',
  'capability-end': '',
  'session-recalled': 'session',
  'session-stored': 'session',
  recovery: '',
  'direction-refused': '',
  'answer-refused': '',
  'consent-resolved': '',
  'approval-resolved': '',
  'context-overruled': '',
};

function entryOf(event: JournalEntry, finding: string, ms: number): Entry | null {
  if (event.type === 'phase-end')
    return event.failure === null
      ? { name: event.phase, ms, text: oneLine(finding) || '–' }
      : { name: event.phase, ms, text: oneLine(failureText(event.failure)), tone: 'bad' };
  if (event.type === 'decision')
    return { name: 'decision', text: `${event.decision.rule}: ${reasonOf(event.decision)}` };
  const name = NAMES[event.type];
  if (name === undefined || isExpected(event)) return null;
  const text = oneLine(entryWords(event));
  const isBad = name !== '' && entryTrouble(event) !== null;
  return {
    ...(name !== '' && { name }),
    text: event.type === 'capability-end' ? cutEnd(text, RESULT_CHARS) : text,
    tone: isBad ? 'bad' : 'aside',
  };
}

const RESULT_CHARS = 100;

/** Whether an entry only says that all is well. */
const isExpected = (event: JournalEntry): boolean =>
  (event.type === 'attempt-end' && event.failure === null && event.repaired === undefined) ||
  (event.type === 'session-stored' && event.problem === null);

const MAX_LOSSES = 5;

type Evaluated = Extract<JournalEntry, { type: 'context-evaluated' }>;

/** Returns the changes to the context; empty if nothing was changed, asked, over a limit or failed. */
function contextLines({ statistics, pruningLog, problem }: Evaluated, askedConsent: boolean): readonly Entry[] {
  const { pruned, summarized } = statistics;
  const over = overText(statistics);
  const lines: Entry[] = [];
  if (askedConsent || pruned + summarized > 0 || over !== null) lines.push(aside(sizeText(statistics)));
  for (const loss of pruningLog.slice(0, MAX_LOSSES)) lines.push(aside(lossText(loss)));
  if (pruningLog.length > MAX_LOSSES) lines.push(aside(`… and ${grouped(pruningLog.length - MAX_LOSSES)} more`));
  if (over !== null) lines.push({ text: over, tone: 'bad' });
  if (problem !== null) lines.push(aside(`context not measured: ${oneLine(problem)}`));
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
  return over.length === 0 ? null : `still over the limit by ${over.join(' and ')}; removing more needs your consent`;
}

function lossText({ operation, messageId, role, reason }: Pruning): string {
  return `${operation === 'PRUNE' ? 'removed' : 'summarized'} ${oneLine(messageId)} (${role}): ${oneLine(reason)}`;
}
