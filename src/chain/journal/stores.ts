import type { JournalEntry, RunSummary } from '../../../machines/contracts/journal.ts';
import type { ManagedJournals, JournalStoreOptions as StoreOptions } from '../../durable/journals/journal-store.ts';
import { createMemoryJournals } from '../../durable/journals/memory-journals.ts';
import { RUN_JOURNALS } from './journal-format.ts';

/**
 * `redact` receives every text of an entry before it is written. Streamed pieces of a reply are not written, since a secret may be split
 * across them; its complete text is. With `fsync: 'checkpoint'`, the start and end of a run, the end of a phase and each decision are synced.
 */
export type JournalStoreOptions = StoreOptions;

/** A journal store of runs. */
export type RunJournals = ManagedJournals<JournalEntry, RunSummary>;

/** Returns a journal store in memory, for tests and for runs inspected in the same process. It shares the entries with the runs. */
export const memoryJournals = (options?: JournalStoreOptions): RunJournals =>
  createMemoryJournals(RUN_JOURNALS, options);
