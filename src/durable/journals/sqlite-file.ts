import type Database from 'libsql';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { onAbort } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';

/** One connection to an SQLite file. It is replaced after an error, so nothing may keep it or its statements. */
export interface SqliteConnection {
  /** Executes a statement and returns the number of changed rows. */
  run(sql: string, values: readonly SqliteValue[]): number;
  /** Returns the rows of a query. Read text as `CAST(… AS BLOB)`: libsql aborts the process on invalid UTF-8. */
  all<Row>(sql: string, values: readonly SqliteValue[]): readonly Row[];
  /**
   * Inserts a row with the kind's `insertions` at the end of the transaction, in one statement with those of other writes. If it is not
   * inserted, `fail` throws the reason.
   */
  insert(values: readonly SqliteValue[], fail: () => never): void;
}

/** Writes of which each needs all earlier ones: if one fails, the later ones do, too. */
export interface WriteChain {
  failure: unknown;
}

interface WriteOptions {
  readonly isSynced?: boolean;
  readonly chain?: WriteChain;
  readonly signal?: AbortSignal | undefined;
}

type SqliteValue = string | number | Uint8Array | null;

/**
 * An SQLite file that several processes may use at once, opened on first use. Reads and writes wait for another process's lock without
 * blocking this process.
 */
export interface SqliteFile {
  /** Runs `act`, which only reads, after all earlier writes. Rejects with the reason of the signal if it aborts first. */
  read<Value>(act: (connection: SqliteConnection) => Value, signal?: AbortSignal): Promise<Value>;
  /** Runs `act`, which only reads, and returns its value; undefined if another process locks the file. */
  readNow<Value>(act: (connection: SqliteConnection) => Value): Value | undefined;
  /**
   * Runs `act`, which executes one statement, at once, in a transaction of its own, and returns true. Returns false if earlier writes wait or
   * another process writes to the file, too: then use `write`.
   */
  writeNow(act: (connection: SqliteConnection) => void): boolean;
  /**
   * Runs `act` in a transaction, after all earlier writes. Waits for the end of the event loop's turn, because all writes of a turn share one
   * transaction. Resolves to its value. Rejects if `act` fails, and then writes nothing. `act` may run more than once, so it must not have other
   * effects. The write survives a crash of the process, but without `isSynced` not necessarily a power failure. Rejects with the reason of the
   * signal if it aborts first.
   */
  write<Value>(act: (connection: SqliteConnection) => Value, options?: WriteOptions): Promise<Value>;
  /** Closes the file after a last attempt at the waiting writes. Those that still fail reject, as do later calls. */
  close(): void;
}

/** Identifies a kind of file and defines how a new one is set up. */
export interface SqliteKind {
  /** SQLite's `application_id`: four bytes that mark the file as one of this kind. */
  readonly applicationId: number;
  /** The statements that create the tables. */
  readonly schema: string;
  /** The version of the schema; by default 1. */
  readonly version?: number;
  /** The statements that insert 1, 2, 4, … rows. */
  readonly insertions?: readonly string[];
  /** How long a read or write waits for another process's lock, in milliseconds. Default: 30,000. */
  readonly waitMs?: number;
}

/** Returns the absolute path of a file, because the working directory may change later. Throws `invalid_option` if it is not a path. */
export function resolveSqlitePath(path: unknown, what: string, inMemory: string): string {
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0') && path !== ':memory:')
    return process.getBuiltinModule('node:path').resolve(path);
  throw new PostChainError(
    'invalid_option',
    `${what}: expected the path of a file; received ${describeValue(path)}; use ${inMemory} in memory`,
  );
}

/** Text is read as bytes: libsql aborts the process if a damaged file has text that is not valid UTF-8. */
export type Bytes = Uint8Array;

export const textOf = (bytes: Bytes | null): string => (bytes === null ? '' : new TextDecoder().decode(bytes));

const FIRST_RETRY_MS = 2;
const LONGEST_RETRY_MS = 250;
const DEFAULT_WAIT_MS = 30_000;

/** A write that has not been committed. */
interface PendingWrite extends Omit<WriteOptions, 'signal'> {
  readonly act: (connection: SqliteConnection) => unknown;
  readonly untilMs: number;
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Returns the connection to a file, opened on first use and replaced after an SQLite error. */
function fileConnection(path: string, kind: SqliteKind) {
  let open: OpenConnection | null = null;
  let inode: number | undefined;
  let isClosed = false;
  function disconnect(): void {
    open?.close();
    open = null;
  }
  return {
    use<Value>(act: (connection: OpenConnection) => Value): Value {
      if (isClosed) throw storeClosed();
      if (open === null) {
        open = connect(path, kind);
        inode = inodeOf(path);
      }
      if (inodeOf(path) !== inode) throw fileReplaced();
      try {
        return act(open);
      } catch (error) {
        if (isSqliteError(error)) disconnect();
        throw error;
      }
    },
    close(): void {
      open?.checkpoint();
      disconnect();
      isClosed = true;
    },
  };
}

/** The writes that have not been committed, in order. */
class WriteQueue {
  readonly #connection: ReturnType<typeof fileConnection>;
  readonly #waitMs: number;
  #writes: PendingWrite[] = [];
  #isScheduled = false;
  #tries = 0;
  /** Whether a write has found a lock of another process. */
  isShared = false;

  constructor(connection: ReturnType<typeof fileConnection>, waitMs: number) {
    this.#connection = connection;
    this.#waitMs = waitMs;
  }

  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** Commits a write at the end of the turn. */
  add<Value>(act: (connection: SqliteConnection) => Value, { signal, ...options }: WriteOptions = {}): Promise<Value> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    let forget: (() => void) | undefined;
    const written = new Promise<Value>((resolve, reject) => {
      const write = { ...options, act, untilMs: performance.now() + this.#waitMs, resolve, reject };
      this.#writes.push(write);
      if (signal === undefined) return;
      forget = onAbort(signal, () => {
        this.#writes = this.#writes.filter((other) => other !== write);
        reject(signal.reason);
      });
    });
    this.#drainLater(0);
    return forget === undefined ? written : written.finally(forget);
  }

  #drainLater(afterMs: number): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const drain = (): void => {
      this.#isScheduled = false;
      this.drain();
      if (!this.isEmpty) this.#drainLater(retryMs(this.#tries));
    };
    if (afterMs === 0) setImmediate(drain);
    else setTimeout(drain, afterMs);
  }

  /** Commits the waiting writes in one transaction, or each on its own if one of them fails. Leaves them if the file is locked. */
  drain(): void {
    let perTransaction = this.#writes.length;
    while (!this.isEmpty) {
      const writes = this.#writes.slice(0, perTransaction);
      try {
        const values = this.#commit(writes);
        this.#writes.splice(0, writes.length);
        for (const [at, { resolve }] of writes.entries()) resolve(values[at] as never);
      } catch (error) {
        if (isBusy(error)) {
          this.isShared = true;
          this.#dropOverdue();
          return;
        }
        if (writes.length === 1) fail(this.#writes.splice(0, 1), error);
        perTransaction = 1;
      }
    }
    this.#tries = 0;
  }

  #commit(writes: readonly PendingWrite[]): readonly unknown[] {
    const isSynced = writes.some((write) => write.isSynced === true);
    const act = (connection: SqliteConnection) =>
      writes.map((write) => {
        if (write.chain?.failure !== undefined) throw write.chain.failure;
        return write.act(connection);
      });
    return this.#connection.use((connection) => connection.transaction(() => act(connection), isSynced));
  }

  #dropOverdue(): void {
    this.#tries += 1;
    const now = performance.now();
    const overdue = this.#writes.filter(({ untilMs }) => untilMs <= now);
    this.#writes = this.#writes.filter(({ untilMs }) => untilMs > now);
    fail(overdue, stillLocked(this.#waitMs));
  }

  /** Tries the waiting writes one last time. */
  close(): void {
    if (!this.isEmpty) this.drain();
    fail(this.#writes.splice(0), storeClosed());
  }
}

function fail(writes: readonly PendingWrite[], error: unknown): void {
  for (const { chain, reject } of writes) {
    if (chain !== undefined) chain.failure ??= error;
    reject(error);
  }
}

/**
 * Returns the SQLite file at an absolute path, of the given kind. The first use creates a missing file, readable only by its owner. A file
 * of another kind is left unchanged, and every call fails.
 *
 * Each longer transaction begins with `BEGIN IMMEDIATE`, so only that statement can fail because of another process's lock: libsql cannot
 * reset a prepared statement that fails with `SQLITE_BUSY`, and the connection would then never commit again.
 */
export function openSqliteFile(path: string, kind: SqliteKind): SqliteFile {
  const waitMs = kind.waitMs ?? DEFAULT_WAIT_MS;
  const file = fileConnection(path, kind);
  const queue = new WriteQueue(file, waitMs);
  return {
    readNow(act) {
      try {
        return file.use(act);
      } catch (error) {
        if (isBusy(error)) return undefined;
        throw error;
      }
    },
    async read(act, signal) {
      const untilMs = performance.now() + waitMs;
      for (let attempt = 0; ; attempt += 1) {
        // Rejects, rather than opens the file, if it is closed in the same turn.
        await null;
        signal?.throwIfAborted();
        try {
          if (!queue.isEmpty) queue.drain();
          return file.use(act);
        } catch (error) {
          if (!isBusy(error)) throw error;
        }
        if (performance.now() >= untilMs) throw stillLocked(waitMs);
        const { setTimeout: sleep } = process.getBuiltinModule('node:timers/promises');
        await sleep(retryMs(attempt), undefined, signal && { signal });
      }
    },
    writeNow(act) {
      if (!queue.isEmpty || queue.isShared) return false;
      try {
        file.use((connection) => {
          connection.sync(false);
          act(connection);
        });
        return true;
      } catch (error) {
        if (!isBusy(error)) throw error;
        queue.isShared = true;
        return false;
      }
    },
    write: (act, options) => queue.add(act, options),
    close() {
      queue.close();
      file.close();
    },
  };
}

/** Returns the reason for a failed call, in one line. */
export function sqliteReason(error: unknown, path: string): string {
  if (codeOf(error) === 'SQLITE_FULL' || (/^SQLITE_(?:IOERR|CANTOPEN)/u.test(codeOf(error)) && isVolumeFull(path)))
    return 'the disk is full; free space on its volume';
  const { message = String(error) } = Object(error) as { readonly message?: string };
  return message.split('\n', 1)[0] ?? '';
}

/** The space that a new write-ahead log and its index need. With less, SQLite reports an I/O error instead of a full disk. */
const LOG_BYTES = 65_536;

function isVolumeFull(path: string): boolean {
  try {
    const { bavail, bsize } = process.getBuiltinModule('node:fs').statfsSync(path);
    return bavail * bsize < LOG_BYTES;
  } catch {
    return false;
  }
}

/** Returns an exponential back-off with jitter, so that waiting processes do not retry together. */
function retryMs(tries: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2);
}

const codeOf = (error: unknown): string => {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
};
const isBusy = (error: unknown): boolean =>
  error instanceof WriteLocked || /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)/u.test(codeOf(error));
const isSqliteError = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_');

/** Undefined if the file does not exist. */
const inodeOf = (path: string): number | undefined =>
  process.getBuiltinModule('node:fs').statSync(path, { throwIfNoEntry: false })?.ino;

/** SQLite would continue to write to the file that it has opened, which has no name or another one. */
const fileReplaced = (): Error =>
  new Error('the file was removed or replaced while it was open; put it back, or close the store and open it again');

const storeClosed = (): Error => new Error('the file is not open, because the store is closed');

/** Another process holds the write lock, so the transaction did not begin. The connection remains usable. */
class WriteLocked extends Error {}

function stillLocked(waitMs: number): Error {
  return new Error(`another program has kept the file locked for ${waitMs / 1_000} seconds; end it, then try again`);
}

interface OpenConnection extends SqliteConnection {
  /** Whether the next transactions survive a power failure. */
  sync(isSynced: boolean): void;
  transaction<Value>(act: () => Value, isSynced: boolean): Value;
  /** Moves the write-ahead log into the file, so that the one file is a complete copy. */
  checkpoint(): void;
  close(): void;
}

/** Connects to a file, and prepares it if it is new. Never waits: throws if another process holds a lock. */
function connect(path: string, kind: SqliteKind): OpenConnection {
  const Sqlite = loadLibsql();
  createIfMissing(path);
  // The path must be absolute: the library treats other strings as server URLs.
  const connection = connectionOn(new Sqlite(path, { timeout: 0 }), kind);
  try {
    prepare(connection, kind);
    connection.all('PRAGMA journal_mode = WAL', []);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/**
 * Creates a missing file, readable only by its owner. Creates it under another name, because closing a file releases all locks of this
 * process on it, also those of a thread that has connected to it meanwhile.
 */
function createIfMissing(path: string): void {
  const { closeSync, existsSync, linkSync, openSync, rmSync, statSync } = process.getBuiltinModule('node:fs');
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) throw new Error('it is a directory');
  if (found !== undefined) return;
  const temporary = `${path}.${globalThis.crypto.randomUUID()}.new`;
  closeSync(openSync(temporary, 'wx', 0o600));
  try {
    linkSync(temporary, path);
  } catch {
    // Without hard links, or if the path is a symbolic link to a missing file.
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
  } finally {
    rmSync(temporary, { force: true });
  }
}

interface InsertedRow {
  readonly values: readonly SqliteValue[];
  readonly fail: () => never;
}

function connectionOn(database: Database.Database, { insertions = [] }: SqliteKind): OpenConnection {
  const statements = new Map<string, Database.Statement>();
  let syncs = true;
  let rows: InsertedRow[] = [];
  const statement = (sql: string): Database.Statement => {
    const prepared = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, prepared);
    return prepared;
  };
  /** NORMAL takes a seventieth of the time, but syncs the write-ahead log only before a checkpoint. */
  function sync(isSynced: boolean): void {
    if (isSynced !== syncs) statement(`PRAGMA synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`).run([]);
    syncs = isSynced;
  }
  function insertRows(): void {
    for (let from = 0, count = 0; from < rows.length; from += count) {
      const power = Math.min(insertions.length - 1, Math.floor(Math.log2(rows.length - from)));
      count = 2 ** power;
      const given = rows.slice(from, from + count).flatMap(({ values }) => values);
      if (statement(insertions[power] as string).run(given as SqliteValue[]).changes < count) rows[from]?.fail();
    }
  }
  return {
    sync,
    insert: (values, fail) => void rows.push({ values, fail }),
    // As an array, because libsql treats a single object, such as bytes, as named values.
    run: (sql, values) => statement(sql).run(values as SqliteValue[]).changes,
    all: <Row>(sql: string, values: readonly SqliteValue[]) => statement(sql).all([...values]) as Row[],
    transaction(act, isSynced) {
      sync(isSynced);
      beginWriting(database);
      try {
        rows = [];
        const value = act();
        insertRows();
        statement('COMMIT').run([]);
        return value;
      } catch (error) {
        rollBack(database);
        throw error;
      }
    },
    checkpoint() {
      try {
        statement('PRAGMA wal_checkpoint(TRUNCATE)').all([]);
      } catch {
        // Another process is using the file, so the log stays beside it.
      }
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

function beginWriting(database: Database.Database): void {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    throw isBusy(error) ? new WriteLocked() : error;
  }
}

/** SQLite itself rolls back after some errors, such as a full disk. */
function rollBack(database: Database.Database): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // Report the first error. The connection is replaced.
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

/** Whether a file is new. Throws if it is of another kind or version. */
function isNew(connection: SqliteConnection, { applicationId, version: expected = 1 }: SqliteKind): boolean {
  const application = readNumber(connection, 'PRAGMA application_id', 'application_id');
  const version = readNumber(connection, 'PRAGMA user_version', 'user_version');
  const tables = readNumber(connection, 'SELECT count(*) AS tables FROM sqlite_schema', 'tables');
  if (application === 0 && version === 0 && tables === 0) return true;
  if (application !== applicationId) throw new Error('it is the database of another program');
  if (version === expected) return false;
  throw new Error(`its format version is ${version}; this PostChain reads version ${expected}`);
}

/** Creates the schema. In a transaction: if two processes start at once, the second finds the complete schema. */
function prepare(connection: OpenConnection, kind: SqliteKind): void {
  const { applicationId, schema, version = 1 } = kind;
  if (!isNew(connection, kind)) return;
  const statements = `${schema}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`.split(';');
  connection.transaction(() => {
    if (isNew(connection, kind)) for (const sql of statements) if (sql.trim() !== '') connection.run(sql, []);
  }, true);
}

function readNumber(connection: SqliteConnection, sql: string, column: string): number {
  const [row] = connection.all<Record<string, number>>(sql, []);
  return row?.[column] ?? 0;
}
