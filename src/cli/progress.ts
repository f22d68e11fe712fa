import { refusalText } from '../../machines/contracts/events.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ModelChange } from '../../machines/contracts/model-status.ts';
import type { Phase } from '../../machines/contracts/phase.ts';
import type { ContextStatistics, Pruning } from '../../machines/contracts/phase-io.ts';
import { lastChars } from '../../machines/text/clip.ts';
import { phaseFinding, replyValue } from '../chain/journal/phase-finding.ts';
import { reasonOf } from '../chain/presentation/progress-line.ts';
import type { RunEvent } from '../chain/runtime/run-events.ts';
import { count, cutEnd, grouped, oneLine } from '../internal/printable.ts';
import type { Entry, Screen } from './screen.ts';

/** More than the status line of a terminal can show. */
const SHOWN_CHARS = 400;

export function createProgress(screen: Screen): (event: RunEvent) => void {
  const findingOf = createFindings();
  let startedAtMs = 0;
  let cycle = 0;
  let askedConsent = false;
  let contextEntries: readonly Entry[] = [];
  /** The search starts with Action; its result is shown with Experience. */
  let search: Entry | null = null;
  let phase: Phase | null = null;
  /** The end of the answer so far. */
  let answer = '';
  /** Events held back while the user is asked for consent: the progress of an early call would be printed over the question. */
  let held: JournalEntry[] | null = null;
  const show = (event: RunEvent): void => {
    if (!('seq' in event)) {
      if (event.type === 'partial') return;
      answer = event.type === 'answer-delta' ? lastChars(answer + event.text, SHOWN_CHARS) : '';
      screen.status('answer', oneLine(answer));
      return;
    }
    if (event.type === 'phase-start') {
      startedAtMs = event.atMs;
      if (event.cycle !== cycle) screen.line(`Cycle ${event.cycle}`);
      cycle = event.cycle;
      askedConsent = false;
      phase = event.phase;
      if (search !== null && phase === 'experience') {
        screen.entry(search);
        search = null;
      }
      screen.status(phase, '');
    }
    if (event.type === 'consent-asked') askedConsent = true;
    if (event.type === 'context-evaluated') contextEntries = contextLines(event, askedConsent);
    const entry = entryOf(event, findingOf(event), event.atMs - startedAtMs);
    if (event.type === 'retrieval' && phase !== 'experience') search = entry;
    else if (entry !== null) screen.entry(entry);
    if (event.type === 'phase-end') {
      for (const line of contextEntries) screen.entry(line);
      contextEntries = [];
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
    if (entry.failure === null && entry.attemptId === null) return 'no model call';
    const reply = replies.get(entry.attemptId ?? '');
    const finding = phaseFinding(entry.phase, reply?.value);
    return finding === '' || reply?.task === entry.phase ? finding : `${finding} (call of ${reply?.task})`;
  };
}

type CallStart = Extract<JournalEntry, { type: 'activity-start' }>;

const MODEL_CHANGES: Readonly<Record<ModelChange, string>> = {
  without_json: 'the model replied without JSON that matches the schema: trying the next reply form',
  json: 'the model replies in JSON in this form',
  prose: 'the model answers in prose: its text is used unchanged',
  unavailable: 'the model hangs: it is not called for now',
  available: 'the model replies again',
};

function entryOf(event: JournalEntry, finding: string, ms: number): Entry | null {
  switch (event.type) {
    case 'phase-end':
      return event.failure === null
        ? { name: event.phase, ms, text: oneLine(finding) || '–' }
        : { name: event.phase, ms, text: failureText(event.failure), tone: 'bad' };
    case 'attempt-end':
      if (event.repaired !== undefined) return aside(`the reply was repaired: ${event.repaired.join(', ')}`);
      return event.failure === null ? null : aside(`attempt ${event.attempt} failed: ${failureText(event.failure)}`);
    case 'attempt-retry':
      return aside(
        `starting attempt ${event.attempt}${event.delayMs > 0 ? ` in ${Math.round(event.delayMs)} ms` : ''}`,
      );
    case 'model-status':
      return aside(MODEL_CHANGES[event.change]);
    case 'retrieval':
      // A line of its own: it stands between two phases.
      return { name: 'search', text: retrievalText(event), tone: 'aside' };
    case 'capability-end':
      return aside(`${event.result.capability}: ${cutEnd(oneLine(event.result.error ?? event.result.output), 80)}`);
    case 'session-recalled':
      return sessionEntry(event);
    case 'session-stored':
      return event.problem === null
        ? null
        : { text: `not stored: ${oneLine(event.problem)}`, tone: 'bad', name: 'session' };
    case 'recovery':
      return aside(`${event.phase} failed: ${RECOVERY[event.action]}`);
    case 'decision':
      return { name: 'decision', text: `${event.decision.rule}: ${reasonOf(event.decision)}` };
    case 'direction-refused':
    case 'answer-refused':
      return aside(oneLine(refusalText(event)));
    case 'consent-resolved':
      return aside(
        `consent (${CONSENT_SOURCES[event.by]}): ${event.kept} kept, ${event.summarized} summarized, ${event.removed} removed`,
      );
    case 'approval-resolved':
      return aside(oneLine(`approval of ${event.capability} (${event.by}): ${event.decision.replace('_', ' ')}`));
    case 'context-overruled':
      return aside(overrideText(event));
    default:
      return null;
  }
}

function overrideText({ messageId, choice, undone, problem }: Extract<JournalEntry, { type: 'context-overruled' }>) {
  const what = `${choice ?? 'undo'} ${oneLine(messageId)}`.trim();
  if (problem !== null) return `${what}: rejected, ${oneLine(problem)}`;
  return undone.length === 0 ? what : `${what}: ${count(undone.length, 'operation')} undone`;
}

const CONSENT_SOURCES = { user: 'user', option: 'option', default: 'not asked', 'time-out': 'no reply' } as const;

const RECOVERY = { repeat: 'retrying', skip: 'continuing without it', finish: 'finishing with an answer' } as const;

function sessionEntry({ turns, problem: why }: Extract<JournalEntry, { type: 'session-recalled' }>): Entry {
  const recalled = { name: 'session', text: `${count(turns, 'turn')} recalled` };
  return why === null ? recalled : { name: 'session', text: `${recalled.text}: ${oneLine(why)}`, tone: 'bad' };
}

const failureText = ({ stage, code, message }: Failure): string =>
  stage === 'aborted' ? oneLine(message) : `${stage}/${code}: ${oneLine(message)}`;

function retrievalText({ passages, widened, failure }: Extract<JournalEntry, { type: 'retrieval' }>): string {
  if (failure !== null) return `document search failed: ${oneLine(failure)}`;
  return `${count(passages, 'passage')} found${widened ? ' by a wider search' : ''}`;
}

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
