import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import { readEntry } from '../journal/stored-entries.ts';
import { createEventStream } from './run-events.ts';

export type RunFeed = ReturnType<typeof createFeed>;

/** Collects the entries of a run for its readers. Converts them only after the first read, and from then on as they arrive. */
export function createFeed() {
  const entries: DurableEntry[] = [];
  const shown: JournalEntry[] = [];
  let visible = 0;
  let isRead = false;
  let answer: FinalAnswer | null = null;
  const readAll = (): readonly JournalEntry[] => {
    isRead = true;
    for (const entry of entries.slice(shown.length, visible)) shown.push(readEntry(entry));
    return shown;
  };
  const stream = createEventStream({
    get length() {
      return visible;
    },
    at: (position) => readAll()[position],
  });
  const show = (): void => {
    visible = entries.length;
    if (isRead) readAll();
    stream.wake();
  };
  return {
    stream,
    /** What readers see. It contains the answer only after the answer is stored. */
    get shown() {
      return readAll();
    },
    /** The answer, whether readers see it or not. */
    get answer() {
      return answer;
    },
    take(stored: DurableEntry): void {
      // The entries before it are taken when the run is attached.
      if (stored.seq !== entries.length) return;
      const isShown = visible === entries.length;
      entries.push(stored);
      const found = answerIn(stored);
      answer = found ?? answer;
      if (isShown && found === null) show();
    },
    showAll: show,
  };
}

/** Returns the answer of a run: its chart emits it, and a note adds it if the chart crashed or was stopped. */
function answerIn(stored: DurableEntry): FinalAnswer | null {
  if (stored.type !== 'emitted' && stored.type !== 'note') return null;
  const content = stored.type === 'note' ? stored.note : stored.event;
  if ((content as { readonly type?: unknown }).type !== 'answer') return null;
  return (readEntry(stored) as Extract<JournalEntry, { type: 'answer' }>).answer;
}
