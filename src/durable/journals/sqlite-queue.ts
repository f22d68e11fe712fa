import { ClaimLimits, type ClaimQuery, isForgotten, type QueuePlace } from './queue.ts';
import type { SqliteConnection } from './sqlite-file.ts';

/**
 * The journals that were enqueued. `begun_ms`: null while a journal is queued; 0 and, after the next claim, `OPENED` if it was opened or deleted instead
 * of claimed. Of the queued journals with the same key and priority, `is_head` marks at least the first: a claim reads only these.
 */
export const QUEUE = `
  CREATE TABLE queue (
    journal INTEGER PRIMARY KEY,
    machine TEXT NOT NULL,
    key TEXT,
    priority INTEGER NOT NULL,
    due_ms REAL NOT NULL,
    begun_ms REAL,
    is_head INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX queue_heads ON queue (machine, priority, due_ms, journal) WHERE is_head = 1 AND begun_ms IS NULL;
  CREATE INDEX queue_by_key ON queue (machine, key, priority, due_ms, journal) WHERE begun_ms IS NULL;
  CREATE INDEX queue_begun ON queue (machine, begun_ms) WHERE begun_ms IS NOT NULL;
`;
const OPENED = Number.MIN_SAFE_INTEGER;
export const IS_QUEUED = 'EXISTS (SELECT 1 FROM queue WHERE queue.journal = journal.id AND begun_ms IS NULL)';

/** `machine` is JSON. */
export function insertQueued(
  connection: SqliteConnection,
  journal: number,
  machine: string,
  { priority, key, dueMs }: QueuePlace,
): void {
  connection.run(
    `INSERT OR REPLACE INTO queue SELECT ?1, ?2, ?3, ?4, ?5, NULL, ?3 IS NULL OR NOT EXISTS (
       SELECT 1 FROM queue WHERE machine = ?2 AND key = ?3 AND priority = ?4 AND begun_ms IS NULL AND due_ms <= ?5
     )`,
    [journal, machine, key, priority, dueMs],
  );
}

/** Removes a journal from the queue because it is opened or deleted. An open one counts toward `concurrency`, but not toward `rate`. */
export function leaveQueue(connection: SqliteConnection, journal: number): void {
  connection.run('UPDATE queue SET begun_ms = 0 WHERE journal = ? AND begun_ms IS NULL', [journal]);
}

interface Row {
  readonly journal: number;
  readonly key: string | null;
  readonly priority: number;
}

/** Text is read as bytes: libsql aborts the process if a damaged file has text that is not valid UTF-8. */
const COLUMNS = 'journal, CAST(key AS BLOB) AS key, priority';
type StoredRow = Omit<Row, 'key'> & { readonly key: Uint8Array | null };
const withKey = <Stored extends Pick<StoredRow, 'key'>>(row: Stored) => ({
  ...row,
  key: row.key && new TextDecoder().decode(row.key),
});

/** Returns the rows of the journals that were claimed. `canClaim`: null if the journal was opened or deleted. */
export function claimQueued(
  connection: SqliteConnection,
  machine: string,
  query: ClaimQuery,
  canClaim: (journal: number) => boolean | null,
): readonly number[] {
  countOpened(connection, machine);
  const limits = new ClaimLimits(query, claimedOf(connection, machine, query));
  const claimed: number[] = [];
  const passed: number[] = [];
  while (claimed.length < query.count && !limits.isFull) {
    const row = firstOf(connection, machine, query.nowMs, limits.fullKeys, passed);
    if (row === null) break;
    const can = canClaim(row.journal);
    if (can === false) passed.push(row.journal);
    else leave(connection, machine, row, can === null ? 0 : query.nowMs);
    if (!can) continue;
    connection.run("UPDATE journal SET state = 'open' WHERE id = ?", [row.journal]);
    limits.add(row.key);
    claimed.push(row.journal);
  }
  return claimed;
}

/** Returns the queued journal to begin first, of all but these keys and journals; null if none is due. */
function firstOf(
  connection: SqliteConnection,
  machine: string,
  nowMs: number,
  fullKeys: readonly string[],
  passed: readonly number[],
): Row | null {
  const heads = 'queue WHERE machine = ? AND is_head = 1 AND begun_ms IS NULL AND priority';
  for (let above = Number.MAX_SAFE_INTEGER; ; ) {
    const [next] = connection.all<{ priority: number | null }>(`SELECT max(priority) AS priority FROM ${heads} < ?`, [
      machine,
      above,
    ]);
    if (next === undefined || next.priority === null) return null;
    const [row] = connection.all<StoredRow>(
      `SELECT ${COLUMNS} FROM ${heads} = ? AND due_ms <= ? AND (key IS NULL OR key NOT IN (SELECT value FROM json_each(?)))
         AND journal NOT IN (SELECT value FROM json_each(?)) ORDER BY due_ms, journal LIMIT 1`,
      [machine, next.priority, nowMs, JSON.stringify(fullKeys), JSON.stringify(passed)],
    );
    if (row !== undefined) return withKey(row);
    above = next.priority;
  }
}

function leave(connection: SqliteConnection, machine: string, { journal, key, priority }: Row, begunMs: number): void {
  if (begunMs === 0) connection.run('DELETE FROM queue WHERE journal = ?', [journal]);
  else connection.run('UPDATE queue SET begun_ms = ?, is_head = 0 WHERE journal = ?', [begunMs, journal]);
  if (key === null) return;
  connection.run(
    `UPDATE queue SET is_head = 1 WHERE journal = (
       SELECT journal FROM queue WHERE machine = ? AND key = ? AND priority = ? AND begun_ms IS NULL ORDER BY due_ms, journal LIMIT 1
     )`,
    [machine, key, priority],
  );
}

function countOpened(connection: SqliteConnection, machine: string): void {
  const left = connection.all<StoredRow>(`SELECT ${COLUMNS} FROM queue WHERE machine = ? AND begun_ms = 0`, [machine]);
  for (const row of left) leave(connection, machine, withKey(row), OPENED);
}

/** Removes what no longer matters for the limits, and returns the rest. */
function claimedOf(connection: SqliteConnection, machine: string, query: ClaimQuery) {
  const rows = connection.all<StoredRow & { begunMs: number; ended: number }>(
    `SELECT ${COLUMNS}, begun_ms AS begunMs, id IS NULL OR (state IS 'ended' AND token IS indexed) AS ended
     FROM queue LEFT JOIN journal ON id = queue.journal WHERE queue.machine = ? AND begun_ms <> 0`,
    [machine],
  );
  const claimed = rows.map((row) => ({ ...withKey(row), hasEnded: row.ended === 1 }));
  for (const one of claimed.filter((each) => isForgotten(each, query)))
    connection.run('DELETE FROM queue WHERE journal = ?', [one.journal]);
  return claimed.filter((each) => !isForgotten(each, query));
}
