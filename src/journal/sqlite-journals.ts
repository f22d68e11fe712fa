import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalStore, JournalStoreOptions } from '../../machines/contracts/journal.ts';
import { jsonOf } from './journal-lines.ts';
import {
  createJournalStore,
  type JournalBounds,
  type LineSink,
  noSuchRun,
  runExists,
  runInUse,
} from './journal-store.ts';
import { aliveOwner, thisProcess } from './owner-lock.ts';
import {
  openSqliteFile,
  resolveSqlitePath,
  type SqliteConnection,
  type SqliteFile,
  sqliteReason,
} from './sqlite-file.ts';

export interface SqliteJournals extends JournalStore {
  /** Closes the file, and every journal in it that is still being written. */
  close(): void;
}

/** `run` is the id as JSON; `owner` is the process that writes the journal. */
const SCHEMA = `
  CREATE TABLE run (id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, owner TEXT) STRICT;
  CREATE TABLE line (run INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run, seq))
    STRICT, WITHOUT ROWID;
`;

interface Row {
  readonly id: number;
  readonly owner: Bytes | null;
}

/**
 * Returns a journal store in an SQLite file, which several processes may use at once. The file is created on first use, readable by its
 * owner only. Each entry is its own transaction, so it survives a crash of the process. While another process locks the file, entries wait
 * in memory, in order; a journal that waits for longer than 30 seconds fails. Requires the package `libsql`. Throws `invalid_option` if
 * `path` is not a path, and throws or rejects with `invalid_path` if the file cannot be used.
 */
export function sqliteJournals(path: string, options: JournalStoreOptions = {}): SqliteJournals {
  const resolved = resolveSqlitePath(path, 'sqliteJournals', 'memoryJournals() to keep journals');
  let file = openJournalFile(resolved, path);
  const store = createJournalStore(
    {
      create(runId) {
        const exists = file.readNow((connection) => rowOf(connection, runId) !== undefined) ?? false;
        if (exists || file.starting.has(runId)) throw runExists(runId);
        file.starting.add(runId);
        return openSink(file, runId, 0);
      },
      async *lines(runId) {
        const { id } = await file.read((connection) => requireRow(connection, runId));
        for (let from = 0; ; from += PAGE_LINES) {
          const page = await file.read((connection) => linesOf(connection, id, from));
          yield* page;
          if (page.length < PAGE_LINES) return;
        }
      },
      async reopen(runId) {
        const count = await file.write((connection) => takeOver(connection, runId));
        return openSink(file, runId, count);
      },
      bounds: () => file.read(readBounds),
    },
    options,
  );
  // Not a copy of the store: linesFrom() finds it by identity.
  return Object.assign(store, {
    close() {
      file.close();
      file = openJournalFile(resolved, path);
    },
  });
}

/** An SQLite file whose errors are reported as `invalid_path`. */
interface JournalFile extends SqliteFile {
  /** The runs whose first entry has not been written. Their row is written with it, so that no run without entries is left behind. */
  readonly starting: Set<string>;
}

function openJournalFile(resolved: string, path: string): JournalFile {
  const file = openSqliteFile(resolved, {
    // "PCjo" in ASCII.
    applicationId: 0x50436a6f,
    version: 1,
    schema: SCHEMA,
    synchronous: 'NORMAL',
  });
  const rethrow = (cause: unknown): never => {
    if (cause instanceof PostChainError) throw cause;
    const message = `Cannot use the journals in "${path}": ${sqliteReason(cause)}`;
    throw new PostChainError('invalid_path', message, { cause });
  };
  return {
    starting: new Set(),
    readNow: (act) => orElse(() => file.readNow(act), rethrow),
    read: (act) => file.read(act).catch(rethrow),
    write: (act) => orElse(() => file.write(act), rethrow),
    writeTogether: (act) => file.writeTogether(act).catch(rethrow),
    close: () => file.close(),
  };
}

/** Calls `act`, and `onError` if it throws or rejects. */
function orElse<Value>(act: () => Value, onError: (error: unknown) => never): Value {
  try {
    const value = act();
    return value instanceof Promise ? (value.catch(onError) as Value) : value;
  } catch (error) {
    return onError(error);
  }
}

/** Text is read as bytes: libsql aborts the process if a damaged file has text that is not valid UTF-8. */
type Bytes = Uint8Array;

const textOf = (bytes: Bytes | null): string => (bytes === null ? '' : new TextDecoder().decode(bytes));

function rowOf(connection: SqliteConnection, runId: string): Row | undefined {
  const [row] = connection.all<Row>('SELECT id, CAST(owner AS BLOB) AS owner FROM run WHERE run = ?', [keyOf(runId)]);
  return row;
}

function requireRow(connection: SqliteConnection, runId: string): Row {
  const row = rowOf(connection, runId);
  if (row === undefined) throw noSuchRun(runId);
  return row;
}

/** Marks a run as written by this process. Returns the number of its lines. Throws if a process is writing it. */
function takeOver(connection: SqliteConnection, runId: string): number {
  const { id, owner } = requireRow(connection, runId);
  const writer = aliveOwner(textOf(owner));
  if (writer !== null) throw runInUse(runId, `process ${writer}`);
  connection.run('UPDATE run SET owner = ? WHERE id = ?', [thisProcess(), id]);
  const [row] = connection.all<{ count: number }>('SELECT count(*) AS count FROM line WHERE run = ?', [id]);
  return row?.count ?? 0;
}

/** Returns the sink of a run that has `count` lines; 0 for a new run. */
function openSink(file: JournalFile, runId: string, count: number): LineSink {
  const key = keyOf(runId);
  let seq = count;
  let failure: { readonly error: unknown } | null = null;

  function insertRun(connection: SqliteConnection, owner: string | null): void {
    if (rowOf(connection, runId) !== undefined) throw runExists(runId);
    connection.run('INSERT INTO run (run, owner) VALUES (?, ?)', [key, owner]);
  }
  function insertLine(line: string): void | Promise<void> {
    const at = seq;
    seq += 1;
    const isFirst = count === 0 && at === 0;
    return file.write((connection) => {
      // A line after one that was not written would damage the journal.
      if (failure !== null) throw failure.error;
      if (isFirst) insertRun(connection, thisProcess());
      connection.run('INSERT INTO line (run, seq, line) SELECT id, ?, ? FROM run WHERE run = ?', [at, line, key]);
    });
  }
  const fail = (error: unknown): never => {
    failure ??= { error };
    throw error;
  };
  return {
    append: (line) => orElse(() => insertLine(line), fail),
    async close() {
      file.starting.delete(runId);
      if (seq === 0) await file.write((connection) => insertRun(connection, null));
      else await file.write((connection) => connection.run('UPDATE run SET owner = NULL WHERE run = ?', [key]));
    },
  };
}

const PAGE_LINES = 1_000;

function linesOf(connection: SqliteConnection, id: number, from: number): readonly string[] {
  const rows = connection.all<{ line: Bytes }>(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
    [id, from, PAGE_LINES],
  );
  return rows.map(({ line }) => textOf(line));
}

function readBounds(connection: SqliteConnection): readonly JournalBounds[] {
  const rows = connection.all<{ name: Bytes; owner: Bytes | null; first: Bytes | null; last: Bytes | null }>(
    `SELECT CAST(run.run AS BLOB) AS name, CAST(run.owner AS BLOB) AS owner,
      (SELECT CAST(line AS BLOB) FROM line WHERE line.run = run.id ORDER BY seq ASC LIMIT 1) AS first,
      (SELECT CAST(line AS BLOB) FROM line WHERE line.run = run.id ORDER BY seq DESC LIMIT 1) AS last
     FROM run`,
    [],
  );
  return rows.map(({ name, owner, first, last }) => ({
    runId: idOf(textOf(name)),
    first: textOf(first),
    last: textOf(last),
    isWritten: aliveOwner(textOf(owner)) !== null,
  }));
}

/** Run ids are stored as JSON, because SQLite cuts text at a zero character. */
const keyOf = (runId: string): string => JSON.stringify(runId);

/** Returns the run id that a name encodes. A damaged name is returned unchanged. */
function idOf(name: string): string {
  const read = jsonOf(name);
  return typeof read === 'string' ? read : name;
}
