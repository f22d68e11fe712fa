import { PostChainError } from '../../../machines/contracts/error.ts';
import { parseJson } from '../../internal/json-text.ts';
import type { JournalStoreOptions, Journals, OpenJournalOptions } from './journal-store.ts';
import {
  fencedError,
  heartbeat,
  isSameLease,
  type Lease,
  newToken,
  parseHolder,
  seemsHeld,
  takeOver,
  thisHolder,
} from './lease.ts';
import {
  createLineStore,
  idOf,
  type JournalIndex,
  journalExists,
  keepIndex,
  type LineBounds,
  type LineSink,
  type LinesQuery,
  nameOf,
  noSuchJournal,
  repeat,
  requireStoreOptions,
  subjectOf,
  unlessRunning,
} from './line-store.ts';
import type { ClaimQuery } from './queue.ts';
import {
  type Bytes,
  openSqliteFile,
  resolveSqlitePath,
  type SqliteConnection,
  type SqliteFile,
  sqliteReason,
  textOf,
  type WriteChain,
} from './sqlite-file.ts';
import { hasMail, SQLITE_MAIL, sqliteMailbox } from './sqlite-mail.ts';
import { claimQueued, IS_QUEUED, insertQueued, leaveQueue, QUEUE } from './sqlite-queue.ts';

export type SqliteJournals = Journals & {
  /** Closes the file, and every journal in it that is still being written. */
  close(): void;
};

/**
 * `name` is the id of the journal as JSON. `owner` is the process that holds the lease on it, as JSON; null if none does. `token` is random
 * for every lease; `beat_ms` is the time of the owner's last heartbeat. `machine`, as JSON, `state`, `due_ms` and the terms are what lists filter
 * by: see `JournalIndex`. They are valid if `indexed` is the token. `started` is their order.
 *
 * Lines are stored in the order in which they are written: a transaction with lines of many journals then changes few pages.
 */
const SCHEMA = `
  CREATE TABLE journal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    owner TEXT,
    token INTEGER NOT NULL,
    beat_ms INTEGER NOT NULL,
    machine TEXT,
    state TEXT,
    due_ms REAL,
    indexed INTEGER
  ) STRICT;
  CREATE INDEX journal_by_owner ON journal (owner) WHERE owner IS NOT NULL;
  CREATE INDEX journal_by_start ON journal (started, id);
  CREATE INDEX journal_by_state ON journal (state, due_ms);
  CREATE INDEX journal_by_machine ON journal (machine, state, due_ms);
  CREATE INDEX journal_unindexed ON journal (id) WHERE token IS NOT indexed;
  CREATE TABLE line (journal INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (journal, seq)) STRICT;
  CREATE TABLE term (term TEXT NOT NULL, journal INTEGER NOT NULL, PRIMARY KEY (term, journal)) STRICT, WITHOUT ROWID;
  CREATE INDEX term_by_journal ON term (journal);
  ${SQLITE_MAIL}
  ${QUEUE}`;

interface Row {
  readonly id: number;
  readonly name: Bytes;
  readonly owner: Bytes | null;
  readonly token: number;
  readonly beatMs: number;
}

/**
 * Keeps journals in an SQLite file, which several processes may use at once. The file is created on first use, readable by its owner only.
 * The entries of each step are a transaction, so they survive a crash of the process; `fsync` decides whether they also survive a power
 * failure. While another process locks the file, entries wait in memory, in order; a journal that waits for longer than 30 seconds fails.
 * Requires the package `libsql`. Throws `invalid_option` if `path` is not a path, and throws or rejects with `invalid_path` if the file
 * cannot be used.
 */
export function sqliteJournals(path: string, options: JournalStoreOptions = {}): SqliteJournals {
  requireStoreOptions('sqliteJournals', options);
  const resolved = resolveSqlitePath(path, 'journals', 'a store in memory to keep journals');
  let file = openJournalFile(resolved, path);
  const store = createLineStore(
    {
      create(id) {
        const exists = file.readNow((connection) => rowOf(connection, id) !== undefined) ?? false;
        if (exists || file.starting.has(id)) throw journalExists(id);
        file.starting.add(id);
        return openSink(file, id, { token: newToken(), count: 0, rowId: null });
      },
      async *lines(id, first = 0) {
        const row = await file.read((connection) => rowOf(connection, id));
        if (row === undefined && file.starting.has(id)) return;
        if (row === undefined) throw noSuchJournal(id);
        for (let from = first; ; from += PAGE_LINES) {
          const page = await file.read((connection) => linesOf(connection, row.id, from));
          yield* page;
          if (page.length < PAGE_LINES) return;
        }
      },
      async *linesBackward(id) {
        const row = await file.read((connection) => requireRow(connection, id));
        let count = await file.read((connection) => countOf(connection, row.id));
        for (; count > 0; count -= PAGE_LINES)
          yield* (
            await file.read((connection) => linesOf(connection, row.id, Math.max(0, count - PAGE_LINES), count))
          ).toReversed();
      },
      async reopen(id, how) {
        const token = newToken();
        const place = await takeOverRow(file, id, how, (connection, row) => {
          const sql = `UPDATE journal SET owner = ?, token = ?, beat_ms = ?, ${keepIndex('token', '-?')} WHERE id = ?`;
          connection.run(sql, [JSON.stringify(thisHolder()), token, Date.now(), token, row.id]);
          file.leases.mark(token);
          leaveQueue(connection, row.id);
          return { token, count: countOf(connection, row.id), rowId: row.id, hasMail: hasMail(connection, row.id) };
        });
        return { ...openSink(file, id, place), hasMail: place.hasMail };
      },
      async remove(id) {
        await takeOverRow(file, id, {}, (connection, row) => {
          leaveQueue(connection, row.id);
          for (const table of ['line', 'term', 'mail'])
            connection.run(`DELETE FROM ${table} WHERE journal = ?`, [row.id]);
          return connection.run('DELETE FROM journal WHERE id = ?', [row.id]);
        });
      },
      async *bounds(query) {
        const { sql, values } = listedIds(query?.list);
        // Once for all pages, and without the lines of the journals.
        const listed = query?.ids ?? (await file.read((connection) => connection.all<{ id: number }>(sql, values)));
        for (let at = 0; at < listed.length; at += PAGE_JOURNALS) {
          const page = listed.slice(at, at + PAGE_JOURNALS);
          yield* await file.read((connection) => readBounds(connection, file, page, query?.isKnown));
        }
      },
      claim: (query) => file.write((connection) => claimIn(connection, file, query)),
      isOrdered: true,
      watch: (onChange) => watchRows(() => file, onChange),
      mail: sqliteMailbox(() => file),
    },
    options,
  );
  return Object.assign(store, {
    close() {
      file.close();
      file = openJournalFile(resolved, path);
    },
  });
}

/** An SQLite file whose errors are reported as `invalid_path`, and the leases on its journals. */
interface JournalFile extends SqliteFile {
  /** The journals whose first entry has not been written. Their row is written with it, so that no empty journal is left behind. */
  readonly starting: Set<string>;
  readonly leases: ReturnType<typeof createLeases>;
  /** The sink that has written last. */
  lastSink: LineSink | null;
}

function openJournalFile(resolved: string, path: string): JournalFile {
  const file = openSqliteFile(resolved, {
    // "PCjo" in ASCII.
    applicationId: 0x50436a6f,
    schema: SCHEMA,
    version: 3,
    insertions: INSERT_LINES,
  });
  const rethrow = (cause: unknown): never => {
    if (cause instanceof PostChainError) throw cause;
    const message = `Cannot use the journals in "${path}": ${sqliteReason(cause, resolved)}`;
    throw new PostChainError('invalid_path', message, { cause });
  };
  function orRethrow<Value>(act: () => Value): Value {
    try {
      return act();
    } catch (cause) {
      return rethrow(cause);
    }
  }
  const leases = createLeases(file);
  return {
    starting: new Set(),
    lastSink: null,
    leases: { ...leases, release: (key, token) => leases.release(key, token).catch(rethrow) },
    readNow: (act) => orRethrow(() => file.readNow(act)),
    writeNow: (act) => orRethrow(() => file.writeNow(act)),
    read: (act) => file.read(act).catch(rethrow),
    write: (...given) => file.write(...given).catch(rethrow),
    close() {
      leases.releaseAll();
      file.close();
    },
  };
}

const RELEASE = `UPDATE journal SET owner = NULL, ${keepIndex('-token', 'token')} WHERE name = ? AND owner = ? AND token = ?`;

/** The tokens of the leases that this process holds, in all its stores. */
const held = new Set<number>();

/** Returns the leases that this process holds on the journals of a file. */
function createLeases(file: SqliteFile) {
  const owner = JSON.stringify(thisHolder());
  const leases = new Map<string, { readonly token: number; isReleased: boolean }>();
  let beats: ReturnType<typeof heartbeat> | null = null;
  let isEnded = false;

  /** Renews the leases, and writes the releases, also those that could not be written before, for example because the disk was full. */
  async function renew(): Promise<void> {
    const released = [...leases].filter(([, { isReleased }]) => isReleased);
    await file.write((connection) => {
      connection.run('UPDATE journal SET beat_ms = ? WHERE owner = ?', [Date.now(), owner]);
      for (const [key, { token }] of released) connection.run(RELEASE, [key, owner, token]);
    });
    for (const [key, lease] of released) if (leases.get(key) === lease) leases.delete(key);
    if (leases.size > 0) return;
    beats?.end();
    beats = null;
  }
  const beat = unlessRunning(renew);
  const markReleased = (key: string, token: number): void => {
    held.delete(token);
    const lease = leases.get(key);
    if (lease?.token === token) lease.isReleased = true;
  };

  return {
    /** Returns the lease in a row; null if there is none, or this process has released it but could not write that yet. */
    of({ owner: text, token, beatMs }: Row): Lease | null {
      const holder = textOf(text);
      if (text === null || (holder === owner && !held.has(token))) return null;
      return { holder: parseHolder(parseJson(holder)), token, beatMs };
    },
    /** Called in the transaction that writes a lease, so that no other call in this process takes it for one that was released. */
    mark: (token: number): void => void held.add(token),
    hold(key: string, token: number): void {
      held.add(token);
      leases.set(key, { token, isReleased: false });
      beats ??= heartbeat(beat);
    },
    async release(key: string, token: number): Promise<void> {
      if (isEnded) return;
      markReleased(key, token);
      await renew();
    },
    /** Releases all leases, because the file is about to be closed. */
    releaseAll(): void {
      isEnded = true;
      for (const [key, { token }] of leases) markReleased(key, token);
      // If that fails, the leases end with this process.
      if (leases.size > 0) renew().catch(() => {});
      beats?.end();
    },
    beatIfLate: () => beats?.ifLate(),
  };
}

const ROW = 'id, CAST(name AS BLOB) AS name, CAST(owner AS BLOB) AS owner, token, beat_ms AS beatMs';

function rowOf(connection: SqliteConnection, id: string): Row | undefined {
  const [row] = connection.all<Row>(`SELECT ${ROW} FROM journal WHERE name = ?`, [nameOf(id)]);
  return row;
}

function requireRow(connection: SqliteConnection, id: string): Row {
  const row = rowOf(connection, id);
  if (row === undefined) throw noSuchJournal(id);
  return row;
}

/** Acts on the row of a journal that no other process writes, in a transaction. */
function takeOverRow<Value>(
  file: JournalFile,
  id: string,
  how: OpenJournalOptions,
  act: (connection: SqliteConnection, row: Row) => Value,
): Promise<Value> {
  return takeOver(subjectOf(id), how, {
    read: () => file.read((connection) => file.leases.of(requireRow(connection, id))),
    replace: (previous) =>
      file.write((connection) => {
        const row = requireRow(connection, id);
        return isSameLease(file.leases.of(row), previous) ? act(connection, row) : null;
      }),
  });
}

/** Where a writer continues: its fencing token, and the number of lines before. */
interface Place {
  readonly token: number;
  readonly count: number;
  /** Null if the row is written with the first line. */
  readonly rowId: number | null;
}

/** Insert 1, 2, 4, … lines whose journals have the tokens. */
const INSERT_LINES: readonly string[] = [1, 2, 4, 8, 16, 32, 64].map(
  (count) => `INSERT INTO line SELECT column1, column2, column3
    FROM (VALUES ${Array(count).fill('(?,?,?,?)').join()}) JOIN journal ON id = column1 AND token = column4`,
);
const [INSERT_LINE = ''] = INSERT_LINES;

function openSink(file: JournalFile, id: string, { token, count, rowId: known }: Place): LineSink {
  const key = nameOf(id);
  const isNew = known === null;
  let rowId = known;
  /** Whether the row has been committed. */
  let hasRow = !isNew;
  let seq = count;
  let indexed = '';
  // An entry after one that was not written would damage the journal.
  const chain: WriteChain = { failure: undefined };
  file.leases.hold(key, token);

  function insertRow(connection: SqliteConnection, startedAt = ''): void {
    if (rowOf(connection, id) !== undefined) throw journalExists(id);
    const values = [key, startedAt, JSON.stringify(thisHolder()), token, Date.now()];
    connection.run('INSERT INTO journal (name, started, owner, token, beat_ms) VALUES (?, ?, ?, ?, ?)', values);
    rowId = requireRow(connection, id).id;
  }
  function fail(connection: SqliteConnection): never {
    const row = rowOf(connection, id);
    throw fencedError(subjectOf(id), row === undefined ? null : file.leases.of(row));
  }
  const sink: LineSink = {
    append(lines, { sync, index, startedAt }) {
      const from = seq;
      const text = JSON.stringify(index);
      const isIndexed = text === indexed;
      indexed = text;
      seq += lines.length;
      file.leases.beatIfLate();
      // Writes of several journals share transactions. If only one journal is written, an immediate write is faster.
      const isOnly = file.lastSink === sink;
      file.lastSink = sink;
      const [line, ...others] = lines;
      const isSingle = line !== undefined && others.length === 0 && hasRow && isIndexed && !sync;
      const insertNow = (connection: SqliteConnection): void => {
        if (connection.run(INSERT_LINE, [rowId, from, line as string, token]) === 0) fail(connection);
      };
      if (isOnly && isSingle && chain.failure === undefined && file.writeNow(insertNow)) return;
      const write = (connection: SqliteConnection): void => {
        if (isNew && from === 0) insertRow(connection, startedAt);
        for (const [at, each] of lines.entries())
          connection.insert([rowId, from + at, each, token], () => fail(connection));
        if (!isIndexed) setIndex(connection, rowId as number, index);
        if (index.queued) insertQueued(connection, rowId as number, nameOf(index.machine ?? ''), index.queued);
      };
      const written = file.write(write, { isSynced: sync, chain });
      if (hasRow) return written;
      return written.then(() => {
        hasRow = true;
      });
    },
    async close() {
      file.starting.delete(id);
      if (isNew && seq === 0) await file.write((connection) => insertRow(connection));
      await file.leases.release(key, token);
    },
  };
  return sink;
}

function setIndex(connection: SqliteConnection, rowId: number, { machine, state, dueMs, terms }: JournalIndex): void {
  const sql = 'UPDATE journal SET machine = ?, state = ?, due_ms = ?, indexed = token WHERE id = ?';
  connection.run(sql, [machine === null ? null : nameOf(machine), state, dueMs, rowId]);
  const given = [rowId, JSON.stringify(terms ?? [])];
  connection.run('DELETE FROM term WHERE journal = ? AND term NOT IN (SELECT value FROM json_each(?))', given);
  connection.run('INSERT OR IGNORE INTO term (journal, term) SELECT ?, value FROM json_each(?)', given);
}

/** Returns the ids of the queued journals that may begin, which no longer are queued. */
function claimIn(connection: SqliteConnection, { leases }: JournalFile, query: ClaimQuery): readonly string[] {
  const rowWith = (id: number) =>
    connection.all<Row & { isIndexed: number }>(
      `SELECT ${ROW}, token IS indexed AS isIndexed FROM journal WHERE id = ? AND state = 'queued'`,
      [id],
    )[0];
  const ids = claimQueued(connection, nameOf(query.machine), query, (id) => {
    const row = rowWith(id);
    if (row?.isIndexed !== 1) return null;
    return !seemsHeld(leases.of(row));
  });
  const sql = 'SELECT CAST(name AS BLOB) AS name FROM journal WHERE id = ?';
  return ids.flatMap((id) => connection.all<Pick<Row, 'name'>>(sql, [id]).map(({ name }) => idOf(textOf(name))));
}

function countOf(connection: SqliteConnection, id: number): number {
  const [lines] = connection.all<{ count: number }>('SELECT count(*) AS count FROM line WHERE journal = ?', [id]);
  return lines?.count ?? 0;
}

const PAGE_LINES = 1_000;
const PAGE_JOURNALS = 200;

function linesOf(connection: SqliteConnection, id: number, from: number, to = from + PAGE_LINES): readonly string[] {
  const rows = connection.all<{ line: Bytes }>(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE journal = ? AND seq >= ? AND seq < ? ORDER BY seq',
    [id, from, to],
  );
  return rows.map(({ line }) => textOf(line));
}

function readBounds(
  connection: SqliteConnection,
  { leases }: JournalFile,
  listed: readonly (string | { readonly id: number })[],
  isKnown: LinesQuery['isKnown'],
): readonly LineBounds[] {
  const sql = `SELECT ${ROW}, ${LAST_SEQ} AS lastSeq, ${IS_QUEUED} AS isQueued FROM journal WHERE`;
  const rows = listed.flatMap((one) =>
    typeof one === 'string'
      ? connection.all<ListedRow>(`${sql} name = ?`, [nameOf(one)])
      : connection.all<ListedRow>(`${sql} id = ?`, [one.id]),
  );
  return rows.map((row) => {
    const id = idOf(textOf(row.name));
    const version = `${row.id} ${row.lastSeq}`;
    const isWritten = seemsHeld(leases.of(row));
    if (isKnown?.(id, version) === true) return { id, version, lines: null, isWritten };
    const [first, last] = [0, row.lastSeq ?? 0].map((seq) => lineAt(connection, row.id, seq)) as [string, string];
    return { id, version, lines: { first, last }, isWritten, isQueued: row.isQueued === 1 };
  });
}

/** Null for a journal without lines. */
const LAST_SEQ = '(SELECT max(seq) FROM line WHERE line.journal = journal.id)';

interface ListedRow extends Row {
  readonly lastSeq: number | null;
  readonly isQueued: number;
}

/** Returns a statement for the journals that a list needs, which indexes answer, in the order of the list. */
export function listedIds({
  machine,
  states,
  dueBefore,
  terms,
  startedAt,
}: Partial<NonNullable<LinesQuery['list']>> = {}) {
  const places = (given: readonly string[]): string => given.map(() => '?').join();
  // The index of terms finds fewer journals: a `+` keeps SQLite from using the others.
  const other = terms?.length ? '+' : '';
  const conditions = [
    ...(terms ?? []).map((each) => `id IN (SELECT journal FROM term WHERE term IN (${places(each)}))`),
    ...(machine === undefined ? [] : [`${other}machine = ?`]),
    ...(states === undefined ? [] : [`${other}state IN (${places(states)})`]),
    ...(dueBefore === undefined ? [] : [`${other}due_ms <= ?`]),
  ];
  const given = [...(terms ?? []), machine === undefined ? [] : nameOf(machine), states ?? [], dueBefore ?? []].flat();
  const found = `SELECT id FROM journal WHERE ${conditions.join(' AND ')}
      UNION ALL SELECT id FROM journal WHERE token IS NOT indexed`;
  const among = conditions.length === 0 ? '' : `id IN (${found}) AND`;
  return {
    sql: `SELECT id FROM journal WHERE ${among} (? IS NULL OR started <= ?) ORDER BY started DESC, id DESC`,
    values: [...given, ...Array(2).fill(startedAt ?? null)],
  };
}

function lineAt(connection: SqliteConnection, id: number, seq: number): string {
  const [found] = connection.all<{ line: Bytes }>(
    'SELECT CAST(line AS BLOB) AS line FROM line WHERE journal = ? AND seq = ?',
    [id, seq],
  );
  return textOf(found?.line ?? null);
}

/** Polls the journals that a process writes, and the number of all. */
function watchRows(file: () => JournalFile, onChange: (ids: readonly string[] | null) => void): () => void {
  let before: { readonly all: string; readonly written: ReadonlyMap<string, string> } | null = null;
  const poll = unlessRunning(async () => {
    const now = await file().read(readChanging);
    const ids = new Set([...now.written.keys(), ...(before?.written.keys() ?? [])]);
    const changed = [...ids].filter((id) => now.written.get(id) !== before?.written.get(id));
    if (before !== null && now.all !== before.all) onChange(null);
    else if (before !== null && changed.length > 0) onChange(changed);
    before = now;
  });
  poll();
  return repeat(poll);
}

function readChanging(connection: SqliteConnection) {
  const [all] = connection.all('SELECT count(*) AS count, max(id) AS last FROM journal', []);
  const rows = connection.all<Pick<ListedRow, 'name' | 'token' | 'lastSeq'>>(
    `SELECT CAST(name AS BLOB) AS name, token, ${LAST_SEQ} AS lastSeq FROM journal WHERE owner IS NOT NULL`,
    [],
  );
  const written = rows.map(({ name, token, lastSeq }) => [idOf(textOf(name)), `${token} ${lastSeq}`] as const);
  return { all: JSON.stringify(all), written: new Map(written) };
}
