import { closeSync, openSync, writeSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';

export interface JournalFile {
  /** Why nothing more is written, say a full disk; null while all is well. A journal that fails does not stop its run. */
  readonly failure: string | null;
  write(entry: JournalEntry): void;
  close(): void;
}

/**
 * A journal as a file of JSON lines, one entry a line, each written at once: after a crash everything up to then is there.
 * Throws `invalid_path` where the file cannot be opened.
 */
export function openJournalFile(path: string): JournalFile {
  const file = open(path);
  let failure: string | null = null;
  return {
    get failure() {
      return failure;
    },
    write(entry) {
      if (failure !== null) return;
      try {
        writeSync(file, `${JSON.stringify(entry)}\n`);
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
    },
    close: () => closeSync(file),
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'w');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostChainError(
      'invalid_path',
      `The journal "${path}" cannot be written (${reason}): give a file in a folder that exists.`,
      { cause },
    );
  }
}
