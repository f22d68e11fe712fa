import { closeSync, openSync, writeSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';

export interface JournalFile {
  write(entry: JournalEntry): void;
  close(): void;
}

/**
 * A journal as a file of JSON lines, one entry a line, each written at once: after a crash everything up to then is there.
 * Throws `invalid_path` where the file cannot be opened.
 */
export function openJournalFile(path: string): JournalFile {
  const file = open(path);
  return {
    write: (entry) => void writeSync(file, `${JSON.stringify(entry)}\n`),
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
