import type { JournalWriter } from '../../../machines/contracts/journal.ts';

/**
 * A writer that never throws: one whose place fails has failed, and writes nothing more. Closed once, it takes nothing more either. Stores are
 * also the user's code.
 */
export function guardedWriter(writer: Omit<JournalWriter, 'failure'> & Partial<JournalWriter>): JournalWriter {
  let broken: string | null = null;
  let closed = false;
  const attempt = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      broken ??= error instanceof Error ? error.message : String(error);
    }
  };
  return {
    get failure() {
      return broken ?? writer.failure ?? null;
    },
    write(entry) {
      if (broken === null && !closed) attempt(() => writer.write(entry));
    },
    close() {
      if (!closed) attempt(() => writer.close());
      closed = true;
    },
  };
}
