import { appendFileSync, closeSync, openSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import { lineWriter, type Redact } from './journal-line.ts';
import type { JournalWriter } from './stores/journal-store.ts';
import { writerTo } from './stores/store-on.ts';

/**
 * A journal as a file of JSON lines, one entry a line, each written at once: after a crash everything up to then is there. What
 * stood in the file before is gone. Throws `invalid_path` where the file cannot be opened.
 */
export function openJournalFile(path: string, redact?: Redact): JournalWriter {
  const file = open(path);
  return writerTo(
    { append: (line) => appendFileSync(file, `${line}\n`), close: () => closeSync(file) },
    lineWriter(redact),
  );
}

function open(path: string): number {
  try {
    return openSync(path, 'w', 0o600);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostChainError(
      'invalid_path',
      `The journal "${path}" cannot be written (${reason}): give a file in a folder that exists.`,
      { cause },
    );
  }
}
