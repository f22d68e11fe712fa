import type { JournalEntry, RunSummary } from '../../../machines/contracts/journal.ts';
import { createFileJournals, createJournalFile, readJournalFile } from '../../durable/journals/file-journals.ts';
import { linesOf as linesIn } from '../../durable/journals/journal-lines.ts';
import { createLineStore, type JournalBackend, requireStoreOptions } from '../../durable/journals/line-store.ts';
import type { PostgresSource } from '../../durable/journals/postgres.ts';
import {
  createPostgresJournals,
  type PostgresJournals as PostgresJournalsOf,
} from '../../durable/journals/postgres-journals.ts';
import {
  createSqliteJournals,
  type SqliteJournals as SqliteJournalsOf,
} from '../../durable/journals/sqlite-journals.ts';
import { RUN_JOURNALS } from './journal-format.ts';
import type { JournalStoreOptions, RunJournals } from './stores.ts';

/**
 * Returns a journal store that keeps each run as a file of compressed lines in a directory, readable by its owner only. The directory
 * is created on the first write. The entries of a step are handed to the operating system before its run continues, so they survive a crash
 * of the process; a power failure may lose the latest ones, unless `fsync` is set. Throws `invalid_option` if `folder` is not a path, and
 * throws or rejects with `invalid_path` if the directory cannot be used.
 */
export const fileJournals = (folder: string, options?: JournalStoreOptions): RunJournals =>
  createFileJournals(folder, RUN_JOURNALS, options);

/** Returns a journal store that keeps runs where you want, as lines of text: see `JournalBackend`. Throws `invalid_option`. */
export const customJournals = (backend: JournalBackend, options: JournalStoreOptions = {}): RunJournals =>
  createLineStore(backend, RUN_JOURNALS, requireStoreOptions('customJournals', options));

/** Returns a journal store for one file with one entry per line, whatever the id of the run. `create` overwrites the file. */
export const journalFile = (path: string): RunJournals => createJournalFile(path, RUN_JOURNALS);

export type SqliteJournals = SqliteJournalsOf<JournalEntry, RunSummary>;

/**
 * Returns a journal store in an SQLite file, which several processes may use at once. The file is created on first use, readable by its
 * owner only. The entries of each step are a transaction, so they survive a crash of the process; `fsync` decides whether they also survive
 * a power failure. While another process locks the file, entries wait in memory, in order; a journal that waits for longer than 30 seconds
 * fails. Requires the package `libsql`. Throws `invalid_option` if `path` is not a path, and throws or rejects with `invalid_path` if the
 * file cannot be used.
 */
export const sqliteJournals = (path: string, options?: JournalStoreOptions): SqliteJournals =>
  createSqliteJournals(path, RUN_JOURNALS, options);

export type PostgresJournals = PostgresJournalsOf<JournalEntry, RunSummary>;

/**
 * Returns a journal store in a PostgreSQL database, which several processes may use at once. Its tables are created on first use. The entries
 * of each step are one statement, which also checks and renews the lease of the run. If the connection is lost, entries wait in memory, in
 * order; a journal that waits for longer than ten seconds fails. `source` is a connection string (requires the package `pg`), or a pool of `pg`,
 * or a PGlite; the store does not close a pool. Throws `invalid_option` if it is none of them, and its methods reject with `invalid_path` if the
 * database cannot be used.
 */
export const postgresJournals = (
  source: PostgresSource,
  options?: Omit<JournalStoreOptions, 'fsync'>,
): PostgresJournals => createPostgresJournals(source, RUN_JOURNALS, options);

/**
 * Yields the entries of a journal file, in order. A last line without a line feed, as a killed process may leave it, is skipped. Throws
 * `invalid_journal` if the file cannot be read, or if a line is not an entry, was changed or is out of place.
 */
export const readJournal = (path: string): AsyncGenerator<JournalEntry> => readJournalFile(path, RUN_JOURNALS);

export const journalText = (journal: readonly JournalEntry[]): string => linesIn(RUN_JOURNALS, journal);
