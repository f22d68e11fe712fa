import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalStore, JournalStoreOptions } from '../../machines/contracts/journal.ts';
import { jsonOf } from './journal-lines.ts';
import {
  type BoundsQuery,
  createJournalStore,
  type JournalBounds,
  type LineSink,
  noSuchRun,
  repeat,
  runExists,
} from './journal-store.ts';
import {
  fencedError,
  HEARTBEAT_MS,
  isSameLease,
  keepAlive,
  type Lease,
  parseHolder,
  replaceableLease,
  seemsHeld,
  thisHolder,
} from './lease.ts';
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

/**
 * `run` is the id as JSON. `owner` is the process that holds the lease on the journal, as JSON; null if none does. `token` grows with
 * every lease, and `beat_ms` with every heartbeat of the owner.
 */
const SCHEMA = [
  `CREATE TABLE run (id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE, owner TEXT) STRICT;
   CREATE TABLE line (run INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (run, seq))
     STRICT, WITHOUT ROWID;`,
  `ALTER TABLE run ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE run ADD COLUMN beat_ms INTEGER NOT NULL DEFAULT 0;
   CREATE INDEX run_by_owner ON run (owner) WHERE owner IS NOT NULL;`,
] as const;

interface Row {
  readonly id: number;
  readonly run: Bytes;
  readonly owner: Bytes | null;
  readonly token: number;
  readonly beatMs: number;
}

/**
 * Returns a journal store in an SQLite file, which several processes may use at once. The file is created on first use, readable by its
 * owner only. The entries of each step are a transaction, so they survive a crash of the process; `fsync` decides whether they also survive
 * a power failure. While another process locks the file, entries wait in memory, in order; a journal that waits for longer than 30 seconds
 * fails. Requires the package `libsql`. Throws `invalid_option` if
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
        return openSink(file, runId, { token: 1, count: 0 });
      },
      async *lines(runId, first = 0) {
        const { id } = await file.read((connection) => requireRow(connection, runId));
        for (let from = first; ; from += PAGE_LINES) {
          const page = await file.read((connection) => linesOf(connection, id, from));
          yield* page;
          if (page.length < PAGE_LINES) return;
        }
      },
      async reopen(runId, { force = false }) {
        for (;;) {
          const previous = await replaceableLease(runId, () => leaseOf(file, runId), force);
          const place = await file.write((connection) => takeOver(connection, file, runId, previous));
          if (place !== null) return openSink(file, runId, place);
        }
      },
      async remove(runId) {
        for (;;) {
          const lease = await replaceableLease(runId, () => leaseOf(file, runId), false);
          if (await file.write((connection) => removeRun(connection, file, runId, lease))) return;
        }
      },
      async *bounds(query) {
        yield* await file.read((connection) => readBounds(connection, file, query));
      },
      watch: (onChange) => watchRows(() => file, onChange),
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

/** An SQLite file whose errors are reported as `invalid_path`, and the leases on its journals. */
interface JournalFile extends SqliteFile {
  /** The runs whose first entry has not been written. Their row is written with it, so that no run without entries is left behind. */
  readonly starting: Set<string>;
  readonly leases: HeldLeases;
}

function openJournalFile(resolved: string, path: string): JournalFile {
  const file = openSqliteFile(resolved, {
    // "PCjo" in ASCII.
    applicationId: 0x50436a6f,
    schema: SCHEMA,
  });
  const rethrow = (cause: unknown): never => {
    if (cause instanceof PostChainError) throw cause;
    const message = `Cannot use the journals in "${path}": ${sqliteReason(cause, resolved)}`;
    throw new PostChainError('invalid_path', message, { cause });
  };
  const leases = createLeases(file, resolved);
  return {
    starting: new Set(),
    leases,
    readNow: (act) => orElse(() => file.readNow(act), rethrow),
    read: (act) => file.read(act).catch(rethrow),
    write: (act) => orElse(() => file.write(act), rethrow),
    writeSynced: (act) => file.writeSynced(act).catch(rethrow),
    close() {
      leases.releaseAll();
      file.close();
    },
  };
}

/** The leases that this process holds on the journals of a file. */
interface HeldLeases {
  /** Returns the lease in a row; null if there is none, or this process has released it but could not write that yet. */
  of(row: Row): Lease | null;
  hold(key: string, token: number): void;
  release(key: string, token: number): Promise<void>;
  /** Releases all leases, because the file is about to be closed. */
  releaseAll(): void;
  /** Shows that this process is alive, if its timers are late. */
  beatIfLate(): void;
}

/** The leases that this process holds, in all its stores, as `file`, `key` and `token`. */
const held = new Set<string>();

function createLeases(file: SqliteFile, resolved: string): HeldLeases {
  const owner = JSON.stringify(thisHolder());
  const tokens = new Map<string, number>();
  const unreleased = new Map<string, number>();
  const nameOf = (key: string, token: number): string => JSON.stringify([resolved, key, token]);
  let endBeats: (() => void) | null = null;
  let beatAtMs = 0;
  let isBeating = false;
  let isEnded = false;

  function writeRelease(connection: SqliteConnection, key: string, token: number): void {
    connection.run('UPDATE run SET owner = NULL WHERE run = ? AND owner = ? AND token = ?', [key, owner, token]);
  }
  /** Also writes the releases that could not be written, for example because the disk was full. */
  async function beat(): Promise<void> {
    if (isBeating) return;
    isBeating = true;
    beatAtMs = performance.now();
    const releases = [...unreleased];
    try {
      await file.write((connection) => {
        connection.run('UPDATE run SET beat_ms = ? WHERE owner = ?', [Date.now(), owner]);
        for (const [key, token] of releases) writeRelease(connection, key, token);
      });
      for (const [key] of releases) unreleased.delete(key);
    } catch {
      // The next beat tries again.
    }
    isBeating = false;
    endIfIdle();
  }
  function endIfIdle(): void {
    if (tokens.size > 0 || unreleased.size > 0) return;
    endBeats?.();
    endBeats = null;
  }

  return {
    of({ run, owner: text, token, beatMs }) {
      const name = textOf(text);
      if (text === null || (name === owner && !held.has(nameOf(textOf(run), token)))) return null;
      return { holder: parseHolder(jsonOf(name)), token, beatMs };
    },
    hold(key, token) {
      held.add(nameOf(key, token));
      tokens.set(key, token);
      endBeats ??= keepAlive(() => void beat());
    },
    async release(key, token) {
      if (isEnded) return;
      held.delete(nameOf(key, token));
      tokens.delete(key);
      try {
        await file.write((connection) => writeRelease(connection, key, token));
      } catch (error) {
        unreleased.set(key, token);
        throw error;
      } finally {
        endIfIdle();
      }
    },
    releaseAll() {
      isEnded = true;
      const all = [...tokens, ...unreleased];
      for (const [key, token] of all) held.delete(nameOf(key, token));
      tokens.clear();
      unreleased.clear();
      endIfIdle();
      if (all.length === 0) return;
      try {
        const released = file.write((connection) => {
          for (const [key, token] of all) writeRelease(connection, key, token);
        });
        if (released instanceof Promise) released.catch(() => {});
      } catch {
        // The leases end with this process.
      }
    },
    beatIfLate() {
      if (performance.now() - beatAtMs > HEARTBEAT_MS) void beat();
    },
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

const ROW = 'id, CAST(run AS BLOB) AS run, CAST(owner AS BLOB) AS owner, token, beat_ms AS beatMs';

function rowOf(connection: SqliteConnection, runId: string): Row | undefined {
  const [row] = connection.all<Row>(`SELECT ${ROW} FROM run WHERE run = ?`, [keyOf(runId)]);
  return row;
}

function requireRow(connection: SqliteConnection, runId: string): Row {
  const row = rowOf(connection, runId);
  if (row === undefined) throw noSuchRun(runId);
  return row;
}

/** Where a writer continues: its fencing token, and the number of lines before. */
interface Place {
  readonly token: number;
  readonly count: number;
}

/** Replaces a lease by one of this process. Returns null if it has changed. */
function takeOver(
  connection: SqliteConnection,
  file: JournalFile,
  runId: string,
  previous: Lease | null,
): Place | null {
  const row = requireRow(connection, runId);
  if (!isSameLease(file.leases.of(row), previous)) return null;
  const token = row.token + 1;
  connection.run('UPDATE run SET owner = ?, token = ?, beat_ms = ? WHERE id = ?', [
    JSON.stringify(thisHolder()),
    token,
    Date.now(),
    row.id,
  ]);
  const [lines] = connection.all<{ count: number }>('SELECT count(*) AS count FROM line WHERE run = ?', [row.id]);
  return { token, count: lines?.count ?? 0 };
}

function openSink(file: JournalFile, runId: string, { token, count }: Place): LineSink {
  const key = keyOf(runId);
  const owner = JSON.stringify(thisHolder());
  const isNew = count === 0 && token === 1;
  let seq = count;
  let failure: { readonly error: unknown } | null = null;
  file.leases.hold(key, token);

  function insertRun(connection: SqliteConnection): void {
    if (rowOf(connection, runId) !== undefined) throw runExists(runId);
    connection.run('INSERT INTO run (run, owner, token, beat_ms) VALUES (?, ?, ?, ?)', [key, owner, token, Date.now()]);
  }
  function insertLine(connection: SqliteConnection, at: number, line: string): void {
    const inserted = connection.run(
      'INSERT INTO line (run, seq, line) SELECT id, ?, ? FROM run WHERE run = ? AND owner = ? AND token = ?',
      [at, line, key, owner, token],
    );
    if (inserted > 0) return;
    const row = rowOf(connection, runId);
    throw fencedError(runId, row === undefined ? null : file.leases.of(row));
  }
  const fail = (error: unknown): never => {
    failure ??= { error };
    throw error;
  };
  return {
    append(lines, { sync }) {
      const from = seq;
      seq += lines.length;
      file.leases.beatIfLate();
      const write = (connection: SqliteConnection): void => {
        // An entry after one that was not written would damage the journal.
        if (failure !== null) throw failure.error;
        if (isNew && from === 0) insertRun(connection);
        for (const [at, line] of lines.entries()) insertLine(connection, from + at, line);
      };
      return orElse(() => (sync ? file.writeSynced(write) : file.write(write)), fail);
    },
    async close() {
      file.starting.delete(runId);
      if (isNew && seq === 0) await file.write(insertRun);
      await file.leases.release(key, token);
    },
  };
}

/** Deletes a run whose lease is still the given one. Returns whether it did. */
function removeRun(connection: SqliteConnection, file: JournalFile, runId: string, lease: Lease | null): boolean {
  const row = requireRow(connection, runId);
  if (!isSameLease(file.leases.of(row), lease)) return false;
  connection.run('DELETE FROM line WHERE run = ?', [row.id]);
  connection.run('DELETE FROM run WHERE id = ?', [row.id]);
  return true;
}

const leaseOf = (file: JournalFile, runId: string): Promise<Lease | null> =>
  file.read((connection) => file.leases.of(requireRow(connection, runId)));

const PAGE_LINES = 1_000;

function linesOf(connection: SqliteConnection, id: number, from: number): readonly string[] {
  const rows = connection.all<{ line: Bytes }>(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
    [id, from, PAGE_LINES],
  );
  return rows.map(({ line }) => textOf(line));
}

function readBounds(
  connection: SqliteConnection,
  { leases }: JournalFile,
  { runIds, isKnown }: BoundsQuery = {},
): readonly JournalBounds[] {
  const columns = `${ROW}, ${LAST_SEQ} AS lastSeq`;
  const rows =
    runIds === undefined
      ? connection.all<ListedRow>(`SELECT ${columns} FROM run`, [])
      : runIds.flatMap((runId) =>
          connection.all<ListedRow>(`SELECT ${columns} FROM run WHERE run = ?`, [keyOf(runId)]),
        );
  return rows.map((row) => {
    const runId = idOf(textOf(row.run));
    const version = String(row.lastSeq);
    const isWritten = seemsHeld(leases.of(row));
    if (isKnown?.(runId, version) === true) return { runId, version, lines: null, isWritten };
    const [first, last] = [0, row.lastSeq ?? 0].map((seq) => lineAt(connection, row.id, seq)) as [string, string];
    return { runId, version, lines: { first, last }, isWritten };
  });
}

/** Null for a run without lines. */
const LAST_SEQ = '(SELECT max(seq) FROM line WHERE line.run = run.id)';

interface ListedRow extends Row {
  readonly lastSeq: number | null;
}

function lineAt(connection: SqliteConnection, id: number, seq: number): string {
  const [found] = connection.all<{ line: Bytes }>(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE run = ? AND seq = ?',
    [id, seq],
  );
  return textOf(found?.line ?? null);
}

const POLL_MS = 500;

/** Polls the runs that a process writes, and the number of all. */
function watchRows(file: () => JournalFile, onChange: (runIds: readonly string[] | null) => void): () => void {
  let before: { readonly all: string; readonly written: ReadonlyMap<string, string> } | null = null;
  let isPolling = false;
  async function poll(): Promise<void> {
    if (isPolling) return;
    isPolling = true;
    try {
      const now = await file().read(readChanging);
      const ids = new Set([...now.written.keys(), ...(before?.written.keys() ?? [])]);
      const changed = [...ids].filter((runId) => now.written.get(runId) !== before?.written.get(runId));
      if (before !== null && now.all !== before.all) onChange(null);
      else if (before !== null && changed.length > 0) onChange(changed);
      before = now;
    } catch {
      // The next poll tries again.
    }
    isPolling = false;
  }
  void poll();
  return repeat(POLL_MS, () => void poll());
}

function readChanging(connection: SqliteConnection) {
  const [all] = connection.all('SELECT count(*) AS count, max(id) AS last FROM run', []);
  const rows = connection.all<Pick<ListedRow, 'run' | 'token' | 'lastSeq'>>(
    `SELECT CAST(run AS BLOB) AS run, token, ${LAST_SEQ} AS lastSeq FROM run WHERE owner IS NOT NULL`,
    [],
  );
  const written = rows.map(({ run, token, lastSeq }) => [idOf(textOf(run)), `${token} ${lastSeq}`] as const);
  return { all: JSON.stringify(all), written: new Map(written) };
}

/** Run ids are stored as JSON, because SQLite cuts text at a zero character. */
const keyOf = (runId: string): string => JSON.stringify(runId);

/** Returns the run id that a name encodes. A damaged name is returned unchanged. */
function idOf(name: string): string {
  const read = jsonOf(name);
  return typeof read === 'string' ? read : name;
}
