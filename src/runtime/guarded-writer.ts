import type { JournalWriter } from '../journal/stores/journal-store.ts';

/** A store is the user's code: one that throws has failed, and the run goes on without it. */
export function guardedWriter(writer: JournalWriter): JournalWriter {
  let broken: string | null = null;
  const attempt = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      broken ??= error instanceof Error ? error.message : String(error);
    }
  };
  return {
    get failure() {
      return broken ?? writer.failure;
    },
    write(entry) {
      if (broken === null) attempt(() => writer.write(entry));
    },
    close: () => attempt(() => writer.close()),
  };
}
