import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalStore, JournalStoreOptions } from '../../../machines/contracts/journal-store.ts';
import { describeValue } from '../../internal/options.ts';
import { jsonOf } from '../journal-line.ts';
import { closeSqliteFile, openSqliteFile, type SqliteFile } from '../sqlite-file.ts';
import { createJournalStore } from './create-journal-store.ts';
import type { JournalBounds, LineSink } from './journal-backend.ts';
import { alive, thisProcess } from './owner.ts';
import { noSuchRun, runExists, runInUse } from './refusals.ts';

export interface SqliteJournals extends JournalStore {
  /** Closes the file, and the journals in it that are still written. */
  close(): void;
}

/** Run ids and lines are JSON text: SQLite would cut a plain one at a zero character. `owner` is the process that writes it. */
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
 * Journals in an SQLite file, marked with "PCjo" in ASCII, which several processes may use at once. It is made when it is first needed, for nobody but
 * its owner to read. Each entry is a transaction of its own: it survives the death of the process. Needs the package `libsql`. Throws
 * `invalid_option` for what is no path; a file that cannot be used throws or rejects with `invalid_path`.
 */
export function sqliteJournals(path: string, options: JournalStoreOptions = {}): SqliteJournals {
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0') || path === ':memory:')
    throw new PostChainError(
      'invalid_option',
      `sqliteJournals: got ${describeValue(path)}; wanted the path of a file; memoryJournals() keeps journals in memory.`,
    );
  // Taken now: the working folder may be another one later.
  const place = process.getBuiltinModule('node:path').resolve(path);
  let opened: SqliteFile | null = null;

  function inFile<Value>(act: (file: SqliteFile) => Value): Value {
    try {
      opened ??= openSqliteFile(place, {
        applicationId: 0x50436a6f,
        version: 1,
        schema: SCHEMA,
        busyMs: 2_000,
        synchronous: 'NORMAL',
      });
      return act(opened);
    } catch (cause) {
      if (cause instanceof PostChainError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new PostChainError('invalid_path', `The journals in "${path}" cannot be used (${reason}).`, { cause });
    }
  }

  const store = createJournalStore(
    {
      create: (runId) =>
        inFile((file) =>
          inTransaction(file, () => {
            if (rowOf(file, runId) !== undefined) throw runExists(runId);
            const added = file.prepare('INSERT INTO run (run, owner) VALUES (?, ?)').run(nameOf(runId), thisProcess());
            return sinkTo(file, Number(added.lastInsertRowid), 0);
          }),
        ),
      lines: (runId) => inFile((file) => linesOf(file, requireRow(file, runId).id)),
      reopen: (runId) =>
        inFile((file) =>
          inTransaction(file, () => {
            const { id, owner } = requireRow(file, runId);
            const writer = alive(textOf(owner));
            if (writer !== null) throw runInUse(runId, `the process ${writer}`);
            file.prepare('UPDATE run SET owner = ? WHERE id = ?').run(thisProcess(), id);
            return sinkTo(file, id, countOf(file, id));
          }),
        ),
      spines: () => inFile(spinesIn),
    },
    options,
  );
  // The same store, not a copy of it: see withLines.
  return Object.assign(store, {
    close() {
      if (opened !== null) closeSqliteFile(opened);
      opened = null;
    },
  });
}

/** As bytes: the library ends the process where a text is no UTF-8, as in a file that was damaged. */
type Bytes = Uint8Array;

const textOf = (bytes: Bytes | null): string => (bytes === null ? '' : new TextDecoder().decode(bytes));

const nameOf = (runId: string): string => JSON.stringify(runId);

function inTransaction<Value>(file: SqliteFile, act: () => Value): Value {
  return file.transaction(act).immediate() as Value;
}

function rowOf(file: SqliteFile, runId: string): Row | undefined {
  return file.prepare('SELECT id, CAST(owner AS BLOB) AS owner FROM run WHERE run = ?').get(nameOf(runId)) as
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

function sinkTo(file: SqliteFile, id: number, count: number): LineSink {
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

const PAGE = 1_000;

function* linesOf(file: SqliteFile, id: number): Generator<string> {
  const page = file.prepare(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE run = ? AND seq >= ? ORDER BY seq LIMIT ?',
  );
  for (let from = 0; ; from += PAGE) {
    const rows = page.all(id, from, PAGE) as { line: Bytes }[];
    for (const { line } of rows) yield textOf(line);
    if (rows.length < PAGE) return;
  }
}

function spinesIn(file: SqliteFile): readonly JournalBounds[] {
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
    isWritten: alive(textOf(owner)) !== null,
  }));
}

/** A name that was damaged is shown as it is. */
function idOf(name: string): string {
  const read = jsonOf(name);
  return typeof read === 'string' ? read : name;
}
