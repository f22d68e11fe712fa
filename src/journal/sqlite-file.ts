import type Database from 'libsql';

/** A connection to an SQLite file. */
export type SqliteFile = InstanceType<typeof Database>;

/** What a file of this kind is known by, and how a new one is made. */
export interface SqliteKind {
  /** SQLite's `application_id`: four bytes that mark the file as of this kind. */
  readonly applicationId: number;
  readonly version: number;
  /** The statements that make the tables. */
  readonly schema: string;
  /** How long the library itself waits for another process, in milliseconds; it blocks this one for so long. */
  readonly busyMs: number;
  /** Whether what was committed survives a power cut, too (FULL), or only the process (NORMAL): the first takes seven times as long. */
  readonly synchronous: 'FULL' | 'NORMAL';
}

/**
 * Opens an SQLite file of this kind; makes one, for nobody but its owner to read, where there is none. Throws where the file is something
 * else, and does not change it then. The path is absolute: the library would take others for addresses of servers.
 */
export function openSqliteFile(path: string, kind: SqliteKind): SqliteFile {
  const Sqlite = load();
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

/** Everything goes into the file itself, so that it can be copied without those beside it. */
export function closeSqliteFile(file: SqliteFile): void {
  try {
    file.pragma('wal_checkpoint(TRUNCATE)');
  } catch {
    // Another process holds the file: what is beside it is read with it.
  } finally {
    file.close();
  }
}

/** An optional peer: whoever keeps nothing in SQLite has not installed it. */
function load(): typeof Database {
  const { createRequire } = process.getBuiltinModule('node:module');
  try {
    return createRequire(import.meta.url)('libsql') as typeof Database;
  } catch (cause) {
    throw new Error('the package libsql is missing: npm install libsql', { cause });
  }
}

/** Whether the schema is there, as this version has it. */
function isPrepared(file: SqliteFile, { applicationId, version }: SqliteKind): boolean {
  return numberOf(file, 'PRAGMA application_id') === applicationId && numberOf(file, 'PRAGMA user_version') === version;
}

/**
 * Makes the schema in a new file. Throws where the file is something else. Within a transaction: of two processes that begin at once, the
 * second finds what the first made, and neither sees half of it.
 */
function prepare(file: SqliteFile, kind: SqliteKind): void {
  if (isPrepared(file, kind)) return;
  const application = numberOf(file, 'PRAGMA application_id');
  const version = numberOf(file, 'PRAGMA user_version');
  if (application === kind.applicationId)
    throw new Error(`it is of version ${version}, and this PostChain reads version ${kind.version}`);
  const isNew = application === 0 && version === 0 && numberOf(file, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (!isNew) throw new Error('it is the database of another program');
  file.exec(kind.schema);
  file.exec(`PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.version};`);
}

/** The one number that a statement gives. */
function numberOf(file: SqliteFile, sql: string): number {
  const [row] = file.prepare(sql).raw().all([]) as [number][];
  return row?.[0] ?? 0;
}
