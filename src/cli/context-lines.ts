import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import type { ContextStatistics, Pruning } from '../../machines/contracts/phases/understanding.ts';
import { count, grouped, oneLine } from '../internal/printable.ts';
import type { Entry } from './screen.ts';

const MAX_LOSSES = 5;

type Evaluated = Extract<JournalEntry, { type: 'context-evaluated' }>;

/** What became of the context, in lines of progress [U13]: none where nothing was touched, asked, over a limit or wrong. */
export function contextLines({ statistics, pruningLog, problem }: Evaluated, asked: boolean): readonly Entry[] {
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
