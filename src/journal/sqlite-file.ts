import type Database from 'libsql';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/options.ts';

/** A connection to an SQLite file. */
export type SqliteFile = InstanceType<typeof Database>;

/** Identifies a kind of file and defines how a new one is set up. */
export interface SqliteKind {
  /** SQLite's `application_id`: four bytes that mark the file as one of this kind. */
  readonly applicationId: number;
  readonly version: number;
  /** The statements that create the tables. */
  readonly schema: string;
  /** How long the library waits for a lock of another process, in milliseconds. It blocks this process meanwhile. */
  readonly busyMs: number;
  /** `FULL`: commits survive a power failure. `NORMAL`: they survive a crash of the process only, but take a seventh of the time. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

/** Resolves the path of a file at once, because the working directory may change later. Throws `invalid_option` if it is not a path. */
export function resolveSqlitePath(path: unknown, what: string, inMemory: string): string {
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0') && path !== ':memory:')
    return process.getBuiltinModule('node:path').resolve(path);
  throw new PostChainError(
    'invalid_option',
    `${what}: expected the path of a file; received ${describeValue(path)}; use ${inMemory} in memory`,
  );
}

/**
 * Opens an SQLite file of this kind. Creates it, readable by its owner only, if it does not exist. Throws, and leaves the file unchanged,
 * if it is something else. The path must be absolute: the library treats other strings as server URLs.
 */
export function openSqliteFile(path: string, kind: SqliteKind): SqliteFile {
  const Sqlite = loadLibsql();
  const { closeSync, openSync } = process.getBuiltinModule('node:fs');
  closeSync(openSync(path, 'a', 0o600));
  const file = new Sqlite(path, { timeout: kind.busyMs });
  try {
    if (!isPrepared(file, kind)) file.transaction(() => prepare(file, kind)).immediate();
    file.pragma('journal_mode = WAL');
    file.pragma(`synchronous = ${kind.synchronous}`);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Closes a file. First moves the write-ahead log into it, so that the one file is a complete copy. */
export function closeSqliteFile(file: SqliteFile): void {
  try {
    file.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // Another process uses the file; the log stays beside it.
  } finally {
    file.close();
  }
}

/** Loads libsql, an optional peer dependency. */
function loadLibsql(): typeof Database {
  const { createRequire } = process.getBuiltinModule('node:module');
  try {
    return createRequire(import.meta.url)('libsql') as typeof Database;
  } catch (cause) {
    throw new Error('the package libsql is not installed; run: npm install libsql', { cause });
  }
}

function isPrepared(file: SqliteFile, { applicationId, version }: SqliteKind): boolean {
  return (
    readNumber(file, 'PRAGMA application_id') === applicationId && readNumber(file, 'PRAGMA user_version') === version
  );
}

/**
 * Creates the schema in a new file. Throws if the file is something else. Runs in a transaction: if two processes start at once, the
 * second finds the complete schema of the first.
 */
function prepare(file: SqliteFile, kind: SqliteKind): void {
  if (isPrepared(file, kind)) return;
  const application = readNumber(file, 'PRAGMA application_id');
  const version = readNumber(file, 'PRAGMA user_version');
  if (application === kind.applicationId)
    throw new Error(`its format version is ${version}; this PostChain reads version ${kind.version}`);
  const isNew = application === 0 && version === 0 && readNumber(file, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (!isNew) throw new Error('it is the database of another program');
  file.exec(kind.schema);
  file.exec(`PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.version};`);
}

function readNumber(file: SqliteFile, sql: string): number {
  const [row] = file.prepare(sql).raw().all([]) as [number][];
  return row?.[0] ?? 0;
}
