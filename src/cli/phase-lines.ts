import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { failureText } from '../chain/presentation/entry-words.ts';
import { oneLine } from '../internal/printable.ts';
import type { Entry } from './screen.ts';

/** A line about something that happened in a phase. */
export interface PhaseLine {
  readonly event: JournalEntry;
  readonly entry: Entry;
}

/** Attempts that failed in the same way, one after another. */
interface Failures {
  readonly task: string;
  readonly text: string;
  readonly from: number;
  to: number;
}

/**
 * Returns the lines below the line of a phase: attempts that failed in the same way are one line, and the wait before an attempt that has
 * ended has none. `attempts` that failed with the `cause` of the phase, which its own line has, are only counted.
 */
export function foldedLines(all: readonly PhaseLine[], cause: string | null) {
  const rows: (Entry | Failures)[] = [];
  const ended = new Set(all.flatMap(({ event }) => (event.type === 'attempt-end' ? keyOf(event) : [])));
  for (const { event, entry } of all) {
    if (event.type === 'attempt-retry' && ended.has(keyOf(event))) continue;
    if (event.type !== 'attempt-end' || event.failure === null) {
      rows.push(entry);
      continue;
    }
    const { task, attempt } = event;
    const text = oneLine(failureText(event.failure));
    const last = rows.at(-1);
    if (last !== undefined && 'task' in last && last.task === task && last.text === text) last.to = attempt;
    else rows.push({ task, text, from: attempt, to: attempt });
  }
  const isCause = (row: Entry | Failures): row is Failures => 'task' in row && row.text === cause;
  const lines = rows.filter((row) => !isCause(row)).map((row) => ('task' in row ? failedEntry(row) : row));
  return { lines, attempts: rows.filter(isCause).reduce((sum, { from, to }) => sum + to - from + 1, 0) };
}

const keyOf = ({ attemptId, attempt }: { readonly attemptId: string; readonly attempt: number }): string =>
  `${attemptId} ${attempt}`;

const failedEntry = ({ task, text, from, to }: Failures): Entry => ({
  text: `${task}, ${from === to ? `attempt ${from}` : `attempts ${from} to ${to}`} failed: ${text}`,
  tone: 'aside',
});
