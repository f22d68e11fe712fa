import { type ActorSummary, durableFormat } from './durable-format.ts';
import type { DurableEntry } from './entries.ts';
import { createFileJournals } from './journals/file-journals.ts';
import type { JournalStoreOptions, ManagedJournals } from './journals/journal-store.ts';
import { createLineStore, type JournalBackend, requireStoreOptions } from './journals/line-store.ts';
import { createMemoryJournals } from './journals/memory-journals.ts';
import type { PostgresSource } from './journals/postgres.ts';
import { createPostgresJournals, type PostgresJournals } from './journals/postgres-journals.ts';
import { createSqliteJournals, type SqliteJournals } from './journals/sqlite-journals.ts';

/** A store for the journals of durable actors. */
export type ActorJournals = ManagedJournals<DurableEntry, ActorSummary>;

type ActorJournalsOptions = Pick<JournalStoreOptions, 'fsync' | 'codec'>;

/**
 * Keeps each journal as a file of compressed lines in a directory, readable by its owner only. Throws `invalid_option` if `folder` is not a
 * path, and `invalid_path` if the directory cannot be used.
 */
export const fileJournals = (folder: string, options: ActorJournalsOptions = {}): ActorJournals =>
  createFileJournals(folder, durableFormat, options);

/** Keeps journals where you want, as lines of text: see `JournalBackend`. Throws `invalid_option` for an unknown option. */
export const customJournals = (backend: JournalBackend, options: ActorJournalsOptions = {}): ActorJournals =>
  createLineStore(backend, durableFormat, requireStoreOptions('customJournals', options));

/** Keeps journals in memory, for tests and for actors that need not outlive their process. */
export const memoryJournals = (): ActorJournals => createMemoryJournals(durableFormat);

/**
 * Keeps journals in an SQLite file, which several processes may use at once. Requires the package `libsql`. Throws `invalid_option` if `path`
 * is not a path, and `invalid_path` if the file cannot be used.
 */
export const sqliteJournals = (
  path: string,
  options: ActorJournalsOptions = {},
): SqliteJournals<DurableEntry, ActorSummary> => createSqliteJournals(path, durableFormat, options);

/**
 * Keeps journals in a PostgreSQL database, which several processes may use at once. `source` is a connection string (requires the package
 * `pg`), or a pool of `pg`, or a PGlite. Throws `invalid_option` if it is none of them.
 */
export const postgresJournals = (
  source: PostgresSource,
  options: Pick<JournalStoreOptions, 'codec'> = {},
): PostgresJournals<DurableEntry, ActorSummary> => createPostgresJournals(source, durableFormat, options);
