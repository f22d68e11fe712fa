import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalWriter } from './journal-store.ts';

/** The codes that mean another writer: the journal was taken over, or another process created it before the first write. */
const ANOTHERS: readonly string[] = ['journal_fenced', 'journal_exists'];

/**
 * Returns a writer that never throws or rejects, because journal stores are user code. After the first error, which becomes its
 * `failure`, and after `close`, it writes nothing more.
 */
export function guardedWriter(writer: Omit<JournalWriter, 'failure'> & Partial<JournalWriter>): JournalWriter {
  let failure: string | null = null;
  let isFenced = false;
  let closed = false;
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error.message : String(error);
    isFenced ||= error instanceof PostChainError && ANOTHERS.includes(error.code);
  };
  const attempt = (act: () => void | Promise<void>): void | Promise<void> => {
    try {
      return act()?.then(undefined, fail);
    } catch (error) {
      fail(error);
    }
  };
  return {
    get failure() {
      return failure ?? writer.failure ?? null;
    },
    get isFenced() {
      return isFenced || writer.isFenced === true;
    },
    keyframeEvery: writer.keyframeEvery,
    write(entries, isLast) {
      if (failure === null && !closed) return attempt(() => writer.write(entries, isLast));
    },
    close() {
      if (closed) return;
      closed = true;
      return attempt(() => writer.close());
    },
  };
}
