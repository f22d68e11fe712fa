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
import { closeSqliteFile, openSqliteFile, resolveSqlitePath, type SqliteFile } from './sqlite-file.ts';

export interface SqliteJournals extends JournalStore {
  /** Closes the file, and every journal in it that is still being written. */
  close(): void;
}

/** Run ids are stored as JSON, because SQLite cuts text at a zero character. `owner` is the process that writes the journal. */
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
 * owner only. Each entry is its own transaction, so it survives a crash of the process. Requires the package `libsql`. Throws
 * `invalid_option` if `path` is not a path, and throws or rejects with `invalid_path` if the file cannot be used.
 */
export function sqliteJournals(path: string, options: JournalStoreOptions = {}): SqliteJournals {
  const resolved = resolveSqlitePath(path, 'sqliteJournals', 'memoryJournals() to keep journals');
  let open: SqliteFile | null = null;

  function withFile<Value>(act: (file: SqliteFile) => Value): Value {
    try {
      open ??= openSqliteFile(resolved, {
        // "PCjo" in ASCII.
        applicationId: 0x50436a6f,
        version: 1,
        schema: SCHEMA,
        busyMs: 2_000,
        synchronous: 'NORMAL',
      });
      return act(open);
    } catch (cause) {
      if (cause instanceof PostChainError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new PostChainError('invalid_path', `Cannot use the journals in "${path}": ${reason}`, { cause });
    }
  }

  const store = createJournalStore(
    {
      create: (runId) =>
        withFile((file) =>
          inTransaction(file, () => {
            if (rowOf(file, runId) !== undefined) throw runExists(runId);
            const added = file
              .prepare('INSERT INTO run (run, owner) VALUES (?, ?)')
              .run(JSON.stringify(runId), thisProcess());
            return openSink(file, Number(added.lastInsertRowid), 0);
          }),
        ),
      lines: (runId) => withFile((file) => linesOf(file, requireRow(file, runId).id)),
      reopen: (runId) =>
        withFile((file) =>
          inTransaction(file, () => {
            const { id, owner } = requireRow(file, runId);
            const writer = aliveOwner(textOf(owner));
            if (writer !== null) throw runInUse(runId, `process ${writer}`);
            file.prepare('UPDATE run SET owner = ? WHERE id = ?').run(thisProcess(), id);
            return openSink(file, id, countOf(file, id));
          }),
        ),
      bounds: () => withFile(readBounds),
    },
    options,
  );
  // Not a copy of the store: linesFrom() finds it by identity.
  return Object.assign(store, {
    close() {
      if (open !== null) closeSqliteFile(open);
      open = null;
    },
  });
}

/** Text is read as bytes: libsql aborts the process if a damaged file has text that is not valid UTF-8. */
type Bytes = Uint8Array;

const textOf = (bytes: Bytes | null): string => (bytes === null ? '' : new TextDecoder().decode(bytes));

function inTransaction<Value>(file: SqliteFile, act: () => Value): Value {
  return file.transaction(act).immediate() as Value;
}

function rowOf(file: SqliteFile, runId: string): Row | undefined {
  return file.prepare('SELECT id, CAST(owner AS BLOB) AS owner FROM run WHERE run = ?').get(JSON.stringify(runId)) as
    | Row
    | undefined;
}

function requireRow(file: SqliteFile, runId: string): Row {
  const row = rowOf(file, runId);
  if (row === undefined) throw noSuchRun(runId);
  return row;
}

function countOf(file: SqliteFile, id: number): number {
  const { count } = file.prepare('SELECT count(*) AS count FROM line WHERE run = ?').get(id) as { count: number };
  return count;
}

function openSink(file: SqliteFile, id: number, count: number): LineSink {
  const insert = file.prepare('INSERT INTO line (run, seq, line) VALUES (?, ?, ?)');
  let seq = count;
  return {
    append(line) {
      insert.run(id, seq, line);
      seq += 1;
    },
    close: () => void file.prepare('UPDATE run SET owner = NULL WHERE id = ?').run(id),
  };
}

const PAGE_LINES = 1_000;

function* linesOf(file: SqliteFile, id: number): Generator<string> {
  const page = file.prepare(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
  );
  for (let from = 0; ; from += PAGE_LINES) {
    const rows = page.all(id, from, PAGE_LINES) as { line: Bytes }[];
    for (const { line } of rows) yield textOf(line);
    if (rows.length < PAGE_LINES) return;
  }
}

function readBounds(file: SqliteFile): readonly JournalBounds[] {
  const rows = file
    .prepare(
      `SELECT CAST(run.run AS BLOB) AS name, CAST(run.owner AS BLOB) AS owner,
        (SELECT CAST(line AS BLOB) FROM line WHERE line.run = run.id ORDER BY seq ASC LIMIT 1) AS first,
        (SELECT CAST(line AS BLOB) FROM line WHERE line.run = run.id ORDER BY seq DESC LIMIT 1) AS last
       FROM run`,
    )
    .all() as { name: Bytes; owner: Bytes | null; first: Bytes | null; last: Bytes | null }[];
  return rows.map(({ name, owner, first, last }) => ({
    runId: idOf(textOf(name)),
    first: textOf(first),
    last: textOf(last),
    isWritten: aliveOwner(textOf(owner)) !== null,
  }));
}

/** Returns the run id that a name encodes. A damaged name is returned unchanged. */
function idOf(name: string): string {
  const read = jsonOf(name);
  return typeof read === 'string' ? read : name;
}
