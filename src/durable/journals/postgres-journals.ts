import { parseJson } from '../../internal/json-text.ts';
import type { JournalStoreOptions, Journals } from './journal-store.ts';
import {
  fencedError,
  heartbeat,
  type Lease,
  leaseState,
  newToken,
  parseHolder,
  takeOver,
  thisHolder,
} from './lease.ts';
import {
  createLineStore,
  idOf,
  type JournalIndex,
  journalExists,
  type LineSink,
  nameOf,
  noSuchJournal,
  requireStoreOptions,
  subjectOf,
} from './line-store.ts';
import { openPostgres, type PostgresSource, type PostgresTables } from './postgres.ts';

export type PostgresJournals = Journals & {
  /** Releases every journal that is still being written. Closes the connections, unless the store was given a pool. */
  close(): Promise<void>;
};

/** How long a lease is valid after a write or a heartbeat, by the clock of the database. */
const LEASE_MS = 10_000;
const EXPIRES = `now() + interval '${LEASE_MS} milliseconds'`;

/** Runs had tables of their own before. They become those of actors, unless there are some. */
const RUN_TABLES = `
  IF to_regclass('postchain_runs') IS NOT NULL AND to_regclass('postchain_actors') IS NULL THEN
    DROP INDEX IF EXISTS postchain_runs_by_start, postchain_runs_open, postchain_runs_unindexed, postchain_runs_by_state,
      postchain_runs_by_machine;
    ALTER TABLE postchain_runs RENAME TO postchain_actors;
    ALTER TABLE postchain_run_lines RENAME TO postchain_actor_lines;
  END IF;`;

/**
 * `name` is the id of the journal as JSON, because PostgreSQL stores no zero characters. `owner` is the process that holds the lease, as JSON;
 * null if none does. `token` is random for every lease. `machine`, `state` and `due` are what lists filter by: see `JournalIndex`. They
 * are valid if `indexed` is the token: processes of an earlier version take leases and write lines without setting them.
 */
const schemaOf = (journals: string, lines: string): string => `
  ${RUN_TABLES}
  CREATE TABLE IF NOT EXISTS ${journals} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    started text COLLATE "C" NOT NULL,
    ended boolean NOT NULL,
    lines integer NOT NULL,
    owner text,
    token bigint NOT NULL,
    expires timestamptz NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ${journals}_by_start ON ${journals} (started, id);
  CREATE INDEX IF NOT EXISTS ${journals}_open ON ${journals} (started, id) WHERE NOT ended;
  CREATE TABLE IF NOT EXISTS ${lines} (
    journal bigint NOT NULL,
    seq integer NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (journal, seq)
  );
  ALTER TABLE ${journals}
    ADD COLUMN IF NOT EXISTS machine text COLLATE "C",
    ADD COLUMN IF NOT EXISTS state text COLLATE "C",
    ADD COLUMN IF NOT EXISTS due float8,
    ADD COLUMN IF NOT EXISTS indexed bigint;
  UPDATE ${journals} SET state = 'ended', indexed = token WHERE ended AND state IS NULL;
  CREATE INDEX IF NOT EXISTS ${journals}_unindexed ON ${journals} (id) WHERE token IS DISTINCT FROM indexed;
  CREATE INDEX IF NOT EXISTS ${journals}_by_state ON ${journals} (state, due);
  CREATE INDEX IF NOT EXISTS ${journals}_by_machine ON ${journals} (machine, state, due);`;

interface Row {
  readonly owner: string | null;
  readonly token: number;
  readonly lines: number;
  readonly isValid: boolean;
  readonly expiresMs: number;
}

const ROW = `owner, token::float8 AS token, lines, expires > now() AS "isValid",
  extract(epoch FROM expires)::float8 * 1000 AS "expiresMs"`;

interface ListedRow extends Row {
  readonly id: string;
  readonly name: string;
  readonly started: string;
  readonly first: string | null;
  readonly last: string | null;
}

/** A sink of a journal that this store writes. */
interface OpenSink extends LineSink {
  /** Whether no line has been stored yet. */
  readonly isNew: boolean;
  /** Resolves when the lines of all earlier calls are stored, or have failed. */
  written(): Promise<void>;
}

/** The lines of the steps since the previous statement began. */
interface Batch {
  readonly lines: string[];
  readonly startedAt: string;
  index: JournalIndex;
  readonly stored: Promise<void>;
}

/**
 * Keeps journals in a PostgreSQL database, which several processes may use at once. Its tables are created on first use. The entries of each
 * step are one statement, which also checks and renews the lease of the actor. If the connection is lost, entries wait in memory, in order; a
 * journal that waits for longer than ten seconds fails. `source` is a connection string (requires the package `pg`), or a pool of `pg`, or a
 * PGlite; the store does not close a pool. Throws `invalid_option` if it is none of them, and its methods reject with `invalid_path` if the
 * database cannot be used.
 */
export function postgresJournals(
  source: PostgresSource,
  options: Omit<JournalStoreOptions, 'fsync'> = {},
): PostgresJournals {
  requireStoreOptions('postgresJournals', options);
  const [journals, lines] = ['postchain_actors', 'postchain_actor_lines'];
  // The last relation of the schema: it exists if all of the schema does.
  const channel = `${journals}_by_machine`;
  const db = openPostgres(source, 'postgresJournals', channel, schemaOf(journals, lines));
  const leases = createLeases(db, journals, channel);
  const sinks = new Map<string, OpenSink>();
  const owner = JSON.stringify(thisHolder());

  /** Waits until all lines that this store was given are stored. */
  const written = async (id: string): Promise<void> => sinks.get(nameOf(id))?.written();

  async function rowOf(id: string): Promise<Row | undefined> {
    const [row] = await db.rows<Row>(`SELECT ${ROW} FROM ${journals} WHERE name = $1`, [nameOf(id)]);
    return row;
  }

  /** Executes a statement on a journal that no other process writes: `$1` is its name, `$2` the token of the lease to replace. */
  async function takeOverRow<Taken>(id: string, force: boolean, sql: string, values: readonly unknown[]) {
    await written(id);
    return takeOver<Taken>(subjectOf(id), force, {
      async read() {
        const row = await rowOf(id);
        if (row === undefined) throw noSuchJournal(id);
        return leaseOf(row);
      },
      async replace(previous) {
        // No lease has the token -1.
        const [taken] = await db.rows<Taken>(sql, [nameOf(id), previous?.token ?? -1, ...values]);
        return taken ?? null;
      },
    });
  }
  const isFree = 'name = $1 AND (owner IS NULL OR expires <= now() OR token = $2';

  /** Yields the lines of a journal after or before the one with the number `place`. */
  async function* linesFrom(id: string, place: number, isBackward: boolean): AsyncGenerator<string> {
    await written(id);
    const [compare, order] = isBackward ? ['<', 'DESC'] : ['>', 'ASC'];
    for (let last = place; ; ) {
      const page = await db.rows<{ seq: number | null; line: string | null }>(
        `SELECT seq, line FROM ${journals} LEFT JOIN ${lines} ON journal = id AND seq ${compare} $2 WHERE name = $1
         ORDER BY seq ${order} LIMIT ${PAGE_LINES}`,
        [nameOf(id), last],
      );
      if (page.length === 0 && sinks.get(nameOf(id))?.isNew !== true) throw noSuchJournal(id);
      for (const { line } of page) if (line !== null) yield line;
      if (page.length < PAGE_LINES) return;
      last = page.at(-1)?.seq ?? last;
    }
  }

  /** Inserts lines after those of a row of the journal, if there is one. */
  const insert = (given: string): string =>
    `, inserted AS (INSERT INTO ${lines} (journal, seq, line) ${given}) SELECT ${notify(channel)} FROM journal`;
  const MANY = `SELECT id, $4::integer + place - 1, line FROM journal, unnest($3::text[]) WITH ORDINALITY AS given (line, place)`;
  const INSERT = `WITH journal AS (
      INSERT INTO ${journals} (name, token, lines, ended, machine, state, due, indexed, started, owner, expires)
      VALUES ($1, $2, $4::integer + cardinality($3::text[]), $6 = 'ended', $5, $6, $7, $2, $8, $9, ${EXPIRES})
      ON CONFLICT (name) DO NOTHING RETURNING id, name
    )${insert(MANY)}`;
  const update = (count: string, given: string): string => `WITH journal AS (
      UPDATE ${journals} SET lines = lines + ${count}, ended = $6 = 'ended', machine = $5, state = $6, due = $7, indexed = token, expires = ${EXPIRES}
      WHERE name = $1 AND token = $2 AND lines = $4 RETURNING id, name
    )${insert(given)}`;
  const UPDATE = update('cardinality($3::text[])', MANY);
  /** Most steps are one line, for which an array would take longer. */
  const UPDATE_ONE = update('1', 'SELECT id, $4, $3 FROM journal');

  /** Opens a journal with `count` lines. */
  function openSink(id: string, token: number, count: number, wasNew: boolean): LineSink {
    let from = count;
    let isNew = wasNew;
    let waiting: Batch | null = null;
    let last: Promise<void> = Promise.resolve();

    async function write(batch: Batch): Promise<void> {
      const { machine, state, dueMs } = batch.index;
      const isOne = !isNew && batch.lines.length === 1;
      const values = [
        nameOf(id),
        token,
        isOne ? batch.lines[0] : batch.lines,
        from,
        machine && nameOf(machine),
        state,
        dueMs,
      ];
      const stored = await (isNew
        ? db.rows(INSERT, [...values, batch.startedAt, owner], `${lines}_insert`)
        : isOne
          ? db.rows(UPDATE_ONE, values, `${lines}_update_one`)
          : db.rows(UPDATE, values, `${lines}_update`));
      from += batch.lines.length;
      if (stored.length === 0) {
        // If the connection was lost before the result arrived, the second try finds the lines of the first.
        const row = await rowOf(id);
        if (isNew && row !== undefined && row.token !== token) throw journalExists(id);
        if (row?.token !== token || row.lines !== from) throw fencedError(subjectOf(id), row ? leaseOf(row) : null);
      }
      isNew = false;
    }
    const sink: OpenSink = {
      get isNew() {
        return isNew;
      },
      written: () => last.catch(() => {}),
      append(added, { startedAt = '', index }) {
        if (waiting !== null) {
          waiting.lines.push(...added);
          waiting.index = index;
          return waiting.stored;
        }
        last = last.then(() => {
          waiting = null;
          return write(batch);
        });
        const batch: Batch = { lines: [...added], startedAt, index, stored: last };
        waiting = batch;
        return last;
      },
      async close() {
        await sink.written();
        if (sinks.get(nameOf(id)) === sink) sinks.delete(nameOf(id));
        await leases.release([[token, nameOf(id)]]);
      },
    };
    sinks.set(nameOf(id), sink);
    leases.hold(token, nameOf(id));
    return sink;
  }

  const store = createLineStore(
    {
      // Does not connect: if the journal exists, its first write fails.
      create(id) {
        if (sinks.has(nameOf(id))) throw journalExists(id);
        return openSink(id, newToken(), 0, true);
      },
      async has(id) {
        await written(id);
        return (await rowOf(id)) !== undefined;
      },
      lines: (id, from = 0) => linesFrom(id, from - 1, false),
      linesBackward: (id) => linesFrom(id, MAX_SEQ, true),
      async reopen(id, { force = false }) {
        const token = newToken();
        const sql = `UPDATE ${journals} SET owner = $3, token = $4, expires = ${EXPIRES} WHERE ${isFree} OR token = $4) RETURNING lines`;
        const taken = await takeOverRow<{ lines: number }>(id, force, sql, [owner, token]);
        return openSink(id, token, taken.lines, false);
      },
      async remove(id) {
        const sql = `WITH gone AS (DELETE FROM ${journals} WHERE ${isFree}) RETURNING id, name),
          emptied AS (DELETE FROM ${lines} WHERE journal IN (SELECT id FROM gone)) SELECT ${notify(channel)}::text FROM gone
          UNION ALL SELECT '' WHERE NOT EXISTS (SELECT FROM ${journals} WHERE name = $1)`;
        // If the connection was lost before the result arrived, the second try finds no journal.
        await takeOverRow(id, false, sql, []);
      },
      async *bounds({ ids, list } = {}) {
        for (const sink of sinks.values()) await sink.written();
        const { startedAt, machine, states, dueBefore } = list ?? {};
        const hints = [
          ['machine IS NULL OR machine = $', machine && nameOf(machine)] as const,
          ['state = ANY($)', states] as const,
          ['due <= $', dueBefore] as const,
        ].filter(([, value]) => value !== undefined);
        for (let last: ListedRow | undefined; ; ) {
          const page: readonly ListedRow[] = await db.rows<ListedRow>(
            `SELECT id::text AS id, name, started, ${ROW},
               (SELECT line FROM ${lines} WHERE journal = id AND seq = 0) AS first,
               (SELECT line FROM ${lines} WHERE journal = id AND seq = lines - 1) AS last
             FROM ${journals} WHERE ($1::text[] IS NULL OR name = ANY($1)) AND ($2::text IS NULL OR started <= $2)
               AND ($3::text IS NULL OR (started, id) < ($3, $4::bigint))
               ${hints.map(([sql], at) => `AND (${sql.replace('$', `$${at + 5}`)} OR token IS DISTINCT FROM indexed)`).join(' ')}
             ORDER BY started DESC, ${journals}.id DESC LIMIT ${PAGE_JOURNALS}`,
            [ids?.map(nameOf), startedAt, last?.started, last?.id, ...hints.map(([, value]) => value)].map(
              (value) => value ?? null,
            ),
          );
          for (const row of page)
            yield {
              id: idOf(row.name),
              version: `${row.id} ${row.token} ${row.lines}`,
              lines: { first: row.first ?? '', last: row.last ?? '' },
              isWritten: leaseState(leaseOf(row)) !== 'free',
            };
          last = page.at(-1);
          if (page.length < PAGE_JOURNALS) return;
        }
      },
      isOrdered: true,
      watch: (onChange) => db.listen((payload) => onChange(payload ? [idOf(payload)] : null)),
      watchOne: (id, onChange) =>
        db.listen((payload) => {
          if (!payload || payload === nameOf(id)) onChange();
        }),
    },
    options,
  );
  return Object.assign(store, {
    async close() {
      for (const sink of sinks.values()) await sink.written();
      await leases.releaseAll();
      await db.close();
    },
  });
}

const PAGE_LINES = 1_000;
const PAGE_JOURNALS = 100;
const MAX_SEQ = 2_147_483_647;

/** Notifies followers which journal has changed; the payload is empty if the name is too long for a notification. */
const notify = (channel: string): string =>
  `pg_notify('${channel}', CASE WHEN octet_length(name) < 7000 THEN name ELSE '' END)`;

/** Returns null if the lease has expired. */
function leaseOf({ owner, token, isValid, expiresMs }: Row): Lease | null {
  if (owner === null || !isValid) return null;
  return { holder: parseHolder(parseJson(owner)), token, beatMs: expiresMs };
}

type HeldLease = readonly [token: number, name: string];

/** Keeps the leases of a store valid. */
function createLeases(db: PostgresTables, journals: string, channel: string) {
  const held = new Map<number, string>();
  let beats: ReturnType<typeof heartbeat> | null = null;
  const update = async (change: string, leases: readonly HeldLease[]): Promise<void> => {
    const sql = `WITH changed AS (
        UPDATE ${journals} SET ${change} WHERE (name, token) IN (SELECT * FROM unnest($1::text[], $2::bigint[])) RETURNING name, owner
      ) SELECT ${notify(channel)} FROM changed WHERE owner IS NULL`;
    await db.rows(sql, [leases.map(([, name]) => name), leases.map(([token]) => token)]);
  };
  async function release(leases: readonly HeldLease[]): Promise<void> {
    for (const [token] of leases) held.delete(token);
    if (held.size === 0) beats?.end();
    if (held.size === 0) beats = null;
    await update('owner = NULL', leases);
  }
  return {
    hold(token: number, name: string): void {
      held.set(token, name);
      // The next beat tries again.
      beats ??= heartbeat(() => void update(`expires = ${EXPIRES}`, [...held]).catch(() => {}));
    },
    release,
    /** Leases that cannot be released expire. */
    releaseAll: () => (held.size === 0 ? undefined : release([...held]).catch(() => {})),
  };
}
