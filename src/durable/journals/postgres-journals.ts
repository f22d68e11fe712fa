import { parseJson } from '../../internal/json-text.ts';
import { type Clock, wallClockOf } from '../clock.ts';
import { FULL_LIST, type JournalStoreOptions, type Journals, type OpenJournalOptions } from './journal-store.ts';
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
  keepIndex,
  type LineBounds,
  type LineSink,
  type LinesQuery,
  nameOf,
  noSuchJournal,
  requireStoreOptions,
  subjectOf,
} from './line-store.ts';
import { openPostgres, type PostgresSource, type PostgresTables } from './postgres.ts';
import { isOfJournal, POSTGRES_MAIL, postgresMailbox } from './postgres-mail.ts';
import {
  CLAIM_QUEUED,
  claimValues,
  enqueue,
  isQueued,
  leaveQueue,
  QUEUE_BEGUN,
  queueSchema,
} from './postgres-queue.ts';

export type PostgresJournals = Journals & {
  /** Releases every journal that is still being written. Closes the connections, unless the store was given a pool. */
  close(): Promise<void>;
};

const JOURNALS = 'postchain_actors';
const LINES = 'postchain_actor_lines';
/** The name of an index and of the channel of notifications. */
const CHANNEL = `${JOURNALS}_by_machine`;

/** How long a lease is valid after a write or a heartbeat, by the clock of the database. */
const LEASE_MS = 10_000;
const EXPIRES = `now() + interval '${LEASE_MS} milliseconds'`;

/**
 * `name` is the id of the journal as JSON, because PostgreSQL stores no zero characters. `owner` is the process that holds the lease, as JSON;
 * null if none does. `token` is random for every lease. `machine`, `state`, `due` and `terms` are what lists filter by: see `JournalIndex`. They
 * are valid if `indexed` is the token.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ${JOURNALS} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    started text COLLATE "C" NOT NULL,
    ended boolean NOT NULL,
    lines integer NOT NULL,
    owner text,
    token bigint NOT NULL,
    expires timestamptz NOT NULL,
    machine text COLLATE "C",
    state text COLLATE "C",
    due float8,
    terms text[],
    indexed bigint
  );
  CREATE INDEX IF NOT EXISTS ${JOURNALS}_by_start ON ${JOURNALS} (started, id);
  CREATE INDEX IF NOT EXISTS ${JOURNALS}_open ON ${JOURNALS} (started, id) WHERE NOT ended;
  CREATE INDEX IF NOT EXISTS ${JOURNALS}_unindexed ON ${JOURNALS} (id) WHERE token IS DISTINCT FROM indexed;
  CREATE INDEX IF NOT EXISTS ${JOURNALS}_by_state ON ${JOURNALS} (state, due);
  CREATE INDEX IF NOT EXISTS ${CHANNEL} ON ${JOURNALS} (machine, state, due);
  CREATE INDEX IF NOT EXISTS ${JOURNALS}_by_term ON ${JOURNALS} USING gin (terms);
  CREATE TABLE IF NOT EXISTS ${LINES} (
    journal bigint NOT NULL,
    seq integer NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (journal, seq)
  );${POSTGRES_MAIL.schema}
  ${queueSchema(JOURNALS, CHANNEL)}`;

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
  readonly isQueued: boolean;
}

interface Reopened {
  readonly lines: number;
  readonly hasMail: boolean;
  /** Fewer than `lines` if there are many, or if another process stored some while this statement waited for it; then they are read again. */
  readonly texts: readonly string[];
}

/** A sink of a journal that this store writes. */
interface OpenSink extends LineSink {
  /** Whether no line has been stored yet. */
  isNew: boolean;
  /** Resolves when the lines of all earlier calls are stored, or have failed. */
  written(): Promise<void>;
}

/** The lines of the steps since the previous statement began. */
interface Batch {
  readonly lines: string[];
  readonly startedAt: string;
  index: JournalIndex;
  isLast: boolean;
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
  const tables = new JournalTables(openPostgres(source, 'postgresJournals', QUEUE_BEGUN, SCHEMA, CHANNEL));
  const { db, leases, sinks } = tables;
  const store = createLineStore(
    {
      // Does not connect: if the journal exists, its first write fails.
      create(id) {
        if (sinks.has(nameOf(id))) throw journalExists(id);
        return openSink(tables, id, newToken(), null);
      },
      async has(id) {
        await tables.written(id);
        return (await tables.rowOf(id)) !== undefined;
      },
      lines: (id, from = 0) => tables.linesFrom(id, from - 1, false),
      linesBackward: (id) => tables.linesFrom(id, MAX_SEQ, true),
      async reopen(id, how) {
        const token = newToken();
        const sql = `WITH taken AS (UPDATE ${JOURNALS} SET owner = $3, token = $4, expires = ${EXPIRES}, ${keepIndex('token', '-$4::bigint')} WHERE ${IS_FREE} OR token = $4) RETURNING id, lines),
          ${leaveQueue('taken')} SELECT lines, ${POSTGRES_MAIL.waitsFor('taken.id')} AS "hasMail",
            to_json(ARRAY(SELECT line FROM ${LINES} WHERE journal = taken.id AND taken.lines <= ${PAGE_LINES} ORDER BY seq)) AS texts FROM taken`;
        const values = [JSON.stringify(thisHolder()), token];
        await tables.written(id);
        // Most journals are free. No lease has the token -1.
        const [free] = await db.rows<Reopened>(sql, [nameOf(id), -1, ...values], `${JOURNALS}_reopen`);
        const { lines, hasMail, texts } = free ?? (await tables.takeOver<Reopened>(id, how, sql, values));
        const known = texts.length === lines ? { lines: () => texts } : {};
        return Object.assign(openSink(tables, id, token, lines), { hasMail, ...known });
      },
      async remove(id) {
        const sql = `${deletion(`${IS_FREE})`)} SELECT FROM gone UNION ALL SELECT WHERE NOT EXISTS (SELECT FROM ${JOURNALS} WHERE name = $1)`;
        // If the connection was lost before the result arrived, the second try finds no journal.
        await tables.takeOver(id, {}, sql, []);
        tables.notify([nameOf(id)]);
      },
      async removeOld(ids, beforeMs) {
        const names = (await db.rows<{ name: string }>(REMOVE_OLD, [ids.map(nameOf), beforeMs])).map(
          ({ name }) => name,
        );
        tables.notify(names);
        return names.map(idOf);
      },
      bounds: (query) => tables.bounds(query),
      async sampleDue(machine, dueBefore) {
        const due = await db.rows<{ name: string }>(SAMPLE_DUE, [nameOf(machine), dueBefore]);
        return due.map(({ name }) => idOf(name));
      },
      async claim(query) {
        const rows = await db.rows<{ name: string }>(CLAIM_QUEUED, claimValues(nameOf(query.machine), query));
        return rows.map(({ name }) => idOf(name));
      },
      isOrdered: true,
      watch: (onChange) =>
        db.listen((payload) => {
          if (!payload || isOfJournal(payload)) onChange(payload ? [idOf(payload)] : null);
        }),
      watchOne: (id, onChange) =>
        db.listen((payload) => {
          if (!payload || payload === nameOf(id)) onChange();
        }),
      mail: postgresMailbox(db, { journals: JOURNALS, channel: CHANNEL, written: (id) => tables.written(id) }),
    },
    options,
  );
  return Object.assign(store, {
    clock: tables.clock,
    async close() {
      for (const sink of sinks.values()) await sink.written();
      await leases.releaseAll();
      await tables.notifier.sent();
      await db.close();
    },
  });
}

const PAGE_LINES = 1_000;
const PAGE_JOURNALS = 100;
const MAX_SEQ = 2_147_483_647;

const TIME = 'SELECT extract(epoch FROM now())::float8 * 1000 AS ms';

/** `$1` is the name of a journal, `$2` the token of the lease to replace. */
const IS_FREE = 'name = $1 AND (owner IS NULL OR expires <= now() OR token = $2';

/** Deletes journals that no process writes. */
const deletion = (which: string): string => `WITH gone AS (DELETE FROM ${JOURNALS} WHERE ${which} RETURNING id, name),
  ${leaveQueue('gone')},
  emptied AS (DELETE FROM ${LINES} WHERE journal IN (SELECT id FROM gone)),
  unread AS (${POSTGRES_MAIL.deleteFor('SELECT id FROM gone')})`;
/**
 * `expires` is later than the last write: a journal whose lease expired before `$2` was not written after it. Skips rows that another process
 * has locked.
 */
const REMOVE_OLD = `${deletion(`id IN (SELECT id FROM ${JOURNALS} WHERE name = ANY($1) AND ended AND (owner IS NULL OR expires <= now())
    AND expires <= to_timestamp($2::float8 / 1000) ORDER BY id FOR UPDATE SKIP LOCKED)`)} SELECT name FROM gone`;

/** Inserts lines after those of a row of the journal, if there is one. */
const insert = (given: string, more = ''): string =>
  `, inserted AS (INSERT INTO ${LINES} (journal, seq, line) ${given}) SELECT ${more} FROM journal`;
const MANY = `SELECT id, $4::integer + place - 1, line FROM journal, unnest($3::text[]) WITH ORDINALITY AS given (line, place)`;
const NEW = `WITH journal AS (
    INSERT INTO ${JOURNALS} (name, token, lines, ended, machine, state, due, terms, indexed, started, owner, expires)
    VALUES ($1, $2, $4::integer + cardinality($3::text[]), $6 = 'ended', $5, $6, $7, $8, $2, $9, $10, ${EXPIRES})
    ON CONFLICT (name) DO NOTHING RETURNING id
  )`;
const INSERT = `${NEW}${insert(MANY)}`;
const INSERT_QUEUED = `${NEW}${insert(MANY, enqueue('id, $5, $11, $12, $13'))}`;
const update = (count: string, given: string): string => `WITH journal AS (
    UPDATE ${JOURNALS} SET lines = lines + ${count}, ended = $6 = 'ended', machine = $5, state = $6, due = $7, terms = $8, indexed = token, expires = ${EXPIRES},
      owner = CASE WHEN $9::boolean THEN NULL ELSE owner END
    WHERE name = $1 AND token = $2 AND lines = $4 RETURNING id
  )${insert(given)}`;
/**
 * Journals that may be due and that no process holds: a random part of many, so that workers that list at the same time get different ones. One
 * of 64 is a list that is short enough to be right until its end, and few enough that 16 workers rarely meet.
 */
const SAMPLE_DUE = `WITH due AS MATERIALIZED (
    SELECT name FROM ${JOURNALS} WHERE (owner IS NULL OR expires <= now())
      AND (machine = $1 AND state = 'waiting' AND due <= $2 OR token IS DISTINCT FROM indexed)
  ) SELECT name FROM due ORDER BY random() LIMIT greatest(${FULL_LIST}, (SELECT count(*) FROM due) / 64)`;
const UPDATE = update('cardinality($3::text[])', MANY);
/** Most steps are one line, for which an array would take longer. */
const UPDATE_ONE = update('1', 'SELECT id, $4, $3 FROM journal');

/** The tables of a store, and the journals in them that it writes. */
class JournalTables {
  readonly db: PostgresTables;
  readonly clock: ServerClock;
  readonly leases: ReturnType<typeof createLeases>;
  readonly notifier: Notifier;
  readonly notify: Notifier['notify'];
  /** By the name of the journal. */
  readonly sinks = new Map<string, OpenSink>();

  constructor(db: PostgresTables) {
    this.db = db;
    this.notifier = createNotifier(db);
    this.notify = this.notifier.notify;
    this.clock = createServerClock(db);
    this.leases = createLeases(db, this.notify, this.clock);
  }

  /** Waits until all lines that this store was given are stored. */
  async written(id: string): Promise<void> {
    await this.clock.synchronize();
    await this.sinks.get(nameOf(id))?.written();
  }

  async rowOf(id: string): Promise<Row | undefined> {
    const [row] = await this.db.rows<Row>(`SELECT ${ROW} FROM ${JOURNALS} WHERE name = $1`, [nameOf(id)]);
    return row;
  }

  /** Executes a statement with `IS_FREE` on a journal that no other process writes. */
  async takeOver<Taken>(id: string, how: OpenJournalOptions, sql: string, values: readonly unknown[]): Promise<Taken> {
    await this.written(id);
    return takeOver<Taken>(subjectOf(id), how, {
      read: async () => {
        const row = await this.rowOf(id);
        if (row === undefined) throw noSuchJournal(id);
        return leaseOf(row);
      },
      replace: async (previous) => {
        // No lease has the token -1.
        const [taken] = await this.db.rows<Taken>(sql, [nameOf(id), previous?.token ?? -1, ...values]);
        return taken ?? null;
      },
    });
  }

  /** Yields the lines of a journal after or before the one with the number `place`. */
  async *linesFrom(id: string, place: number, isBackward: boolean): AsyncGenerator<string> {
    await this.written(id);
    const [compare, order] = isBackward ? ['<', 'DESC'] : ['>', 'ASC'];
    for (let last = place; ; ) {
      const page = await this.db.rows<{ seq: number | null; line: string | null }>(
        `SELECT seq, line FROM ${JOURNALS} LEFT JOIN ${LINES} ON journal = id AND seq ${compare} $2 WHERE name = $1
         ORDER BY seq ${order} LIMIT ${PAGE_LINES}`,
        [nameOf(id), last],
      );
      if (page.length === 0 && this.sinks.get(nameOf(id))?.isNew !== true) throw noSuchJournal(id);
      for (const { line } of page) if (line !== null) yield line;
      if (page.length < PAGE_LINES) return;
      last = page.at(-1)?.seq ?? last;
    }
  }

  async *bounds({ ids, list }: LinesQuery = {}): AsyncGenerator<LineBounds> {
    await this.clock.synchronize();
    for (const sink of this.sinks.values()) await sink.written();
    const { startedAt, machine, states, dueBefore, terms = [] } = list ?? {};
    // An array, because PostgreSQL cannot estimate for how many rows two columns differ, and would not search the terms with their index.
    const unknown =
      terms.length === 0
        ? 'token IS DISTINCT FROM indexed'
        : `id = ANY (ARRAY(SELECT id FROM ${JOURNALS} WHERE token IS DISTINCT FROM indexed))`;
    const hints = [
      ['machine IS NULL OR machine = $', machine && nameOf(machine)] as const,
      ['state = ANY($)', states] as const,
      ['due <= $', dueBefore] as const,
      ...terms.map((each) => ['terms && $::text[]', each] as const),
    ].filter(([, value]) => value !== undefined);
    const sql = `SELECT id::text AS id, name, started, ${ROW},
        (SELECT line FROM ${LINES} WHERE journal = id AND seq = 0) AS first,
        (SELECT line FROM ${LINES} WHERE journal = id AND seq = lines - 1) AS last,
        ${isQueued(JOURNALS)} AS "isQueued"
      FROM ${JOURNALS} WHERE ($1::text[] IS NULL OR name = ANY($1)) AND ($2::text IS NULL OR started <= $2)
        AND ($3::text IS NULL OR (started, id) < ($3, $4::bigint))
        ${hints.map(([hint], at) => `AND (${hint.replace('$', `$${at + 5}`)} OR ${unknown})`).join(' ')}
      ORDER BY started DESC, ${JOURNALS}.id DESC LIMIT ${PAGE_JOURNALS}`;
    for (let last: ListedRow | undefined; ; ) {
      const values = [ids?.map(nameOf), startedAt, last?.started, last?.id, ...hints.map(([, value]) => value)];
      const page: readonly ListedRow[] = await this.db.rows(
        sql,
        values.map((value) => value ?? null),
      );
      for (const row of page)
        yield {
          id: idOf(row.name),
          version: `${row.id} ${row.token} ${row.lines}`,
          lines: { first: row.first ?? '', last: row.last ?? '' },
          isWritten: leaseState(leaseOf(row)) !== 'free',
          isQueued: row.isQueued,
        };
      last = page.at(-1);
      if (page.length < PAGE_JOURNALS) return;
    }
  }
}

/** Opens a journal with `count` lines; null for a new one. */
function openSink(tables: JournalTables, id: string, token: number, count: number | null): LineSink {
  const { leases, sinks } = tables;
  const name = nameOf(id);
  let from = count ?? 0;
  let isReleased = false;
  let waiting: Batch | null = null;
  let last: Promise<void> = Promise.resolve();

  async function write({
    lines,
    startedAt,
    index: { machine, state, dueMs, terms, queued },
    isLast,
  }: Batch): Promise<void> {
    const { isNew } = sink;
    const isOne = !isNew && lines.length === 1;
    const [insertKind, insertSql] = queued ? ['enqueue', INSERT_QUEUED] : ['insert', INSERT];
    const [kind, sql] = isNew ? [insertKind, insertSql] : isOne ? ['update_one', UPDATE_ONE] : ['update', UPDATE];
    const values = [name, token, isOne ? lines[0] : lines, from, machine && nameOf(machine), state, dueMs, terms ?? []];
    if (isNew) values.push(startedAt, JSON.stringify(thisHolder()));
    else values.push(String(isLast));
    if (isNew && queued) values.push(queued.key, queued.priority, queued.dueMs);
    const stored = await tables.db.rows(sql, values, `${LINES}_${kind}`);
    from += lines.length;
    if (stored.length === 0) {
      // If the connection was lost before the result arrived, the second try finds the lines of the first.
      const row = await tables.rowOf(id);
      if (isNew && row !== undefined && row.token !== token) throw journalExists(id);
      if (row?.token !== token || row.lines !== from) throw fencedError(subjectOf(id), row ? leaseOf(row) : null);
    }
    isReleased = isLast && !isNew;
    sink.isNew = false;
    tables.notify([name]);
  }
  const sink: OpenSink = {
    isNew: count === null,
    written: () => last.catch(() => {}),
    append(added, { startedAt = '', index, isLast }) {
      if (waiting !== null) {
        waiting.lines.push(...added);
        waiting.index = index;
        waiting.isLast = isLast;
        return waiting.stored;
      }
      last = last.then(() => {
        waiting = null;
        return write(batch);
      });
      const batch: Batch = { lines: [...added], startedAt, index, isLast, stored: last };
      waiting = batch;
      return last;
    },
    async close() {
      await sink.written();
      if (sinks.get(name) === sink) sinks.delete(name);
      if (isReleased) leases.forget([token]);
      else await leases.release([[token, name]]);
    },
  };
  sinks.set(name, sink);
  leases.hold(token, name);
  return sink;
}

interface ServerClock extends Clock {
  /** Synchronizes it with the clock of the server, at most every two seconds. */
  synchronize(): Promise<void>;
}

const SYNCHRONIZE_MS = 2_000;

/** The time of the server, as the last comparison showed it; before the first one, that of this process. */
function createServerClock(db: PostgresTables): ServerClock {
  const clock = wallClockOf({});
  let offsetMs: number | null = null;
  let synchronizedMs = Number.NEGATIVE_INFINITY;
  return {
    ...clock,
    now: () => (offsetMs === null ? clock.now() : performance.now() + offsetMs),
    async synchronize() {
      const sentMs = performance.now();
      if (sentMs - synchronizedMs < SYNCHRONIZE_MS) return;
      const [{ ms } = { ms: clock.now() }] = await db.rows<{ ms: number }>(TIME, []);
      synchronizedMs = performance.now();
      // The server read its clock between the two.
      offsetMs = Math.min(Math.max(offsetMs ?? Number.NEGATIVE_INFINITY, ms - synchronizedMs), ms - sentMs);
    },
  };
}

/** Returns null if the lease has expired. */
function leaseOf({ owner, token, isValid, expiresMs }: Row): Lease | null {
  if (owner === null || !isValid) return null;
  return { holder: parseHolder(parseJson(owner)), token, beatMs: expiresMs };
}

type HeldLease = readonly [token: number, name: string];

interface Notifier {
  /** Notifies followers which journals have changed. */
  notify(names: readonly string[]): void;
  /** Resolves when all notifications are sent. */
  sent(): Promise<void>;
}

/** The least time between two notifications. */
const NOTIFY_MS = 10;
/** The pause after a notification, as a multiple of its duration, so that notifications do not load a busy server. */
const NOTIFY_PAUSE_FACTOR = 3;

/**
 * Notifications are statements of their own, for all journals that have changed since the last one: PostgreSQL commits transactions that notify
 * one after another, each with its own sync to disk, for all clients of the server.
 */
function createNotifier(db: PostgresTables): Notifier {
  const changed = new Set<string>();
  let sending: Promise<void> | null = null;
  async function send(): Promise<void> {
    while (changed.size > 0) {
      // The payload is empty if a name is too long for a notification.
      const payloads = [...changed].map((name) => (new TextEncoder().encode(name).length < 7_000 ? name : ''));
      changed.clear();
      const sentAtMs = performance.now();
      // Followers also poll.
      await db.rows(`SELECT pg_notify('${CHANNEL}', name) FROM unnest($1::text[]) AS name`, [payloads]).catch(() => {});
      const tookMs = performance.now() - sentAtMs;
      await new Promise((resolve) => setTimeout(resolve, Math.max(NOTIFY_MS, NOTIFY_PAUSE_FACTOR * tookMs)));
    }
    sending = null;
  }
  return {
    notify(names) {
      for (const name of names) changed.add(name);
      sending ??= send();
    },
    sent: async () => sending ?? undefined,
  };
}

/** Keeps the leases of a store valid. */
function createLeases(db: PostgresTables, notify: Notifier['notify'], clock: ServerClock) {
  const held = new Map<number, string>();
  let beats: ReturnType<typeof heartbeat> | null = null;
  let releasing: { readonly leases: HeldLease[]; readonly done: Promise<void> } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const update = (change: string, leases: readonly HeldLease[]): Promise<unknown> =>
    db.rows(
      `UPDATE ${JOURNALS} SET ${change} WHERE (name, token) IN (SELECT * FROM unnest($1::text[], $2::bigint[]))`,
      [leases.map(([, name]) => name), leases.map(([token]) => token)],
    );
  async function free(leases: readonly HeldLease[]): Promise<void> {
    await update(`owner = NULL, ${keepIndex('-token', 'token')}`, leases);
    notify(leases.map(([, name]) => name));
  }
  function forget(tokens: readonly number[]): void {
    for (const token of tokens) held.delete(token);
    if (held.size === 0) beats?.end();
    if (held.size === 0) beats = null;
  }
  /** All that are released while a statement is in progress are one statement. */
  function release(leases: readonly HeldLease[]): Promise<void> {
    forget(leases.map(([token]) => token));
    if (releasing !== null) {
      releasing.leases.push(...leases);
      return releasing.done;
    }
    const batch: HeldLease[] = [...leases];
    const done = last
      .catch(() => {})
      .then(() => {
        releasing = null;
        return free(batch);
      });
    last = done;
    releasing = { leases: batch, done };
    return done;
  }
  return {
    hold(token: number, name: string): void {
      held.set(token, name);
      // The next beat tries again.
      const beat = () => Promise.all([update(`expires = ${EXPIRES}`, [...held]), clock.synchronize()]);
      beats ??= heartbeat(() => void beat().catch(() => {}));
    },
    release,
    /** Ends the heartbeats of leases that were released with the last lines. */
    forget,
    /** Leases that cannot be released expire. */
    releaseAll: () => (held.size === 0 ? last.catch(() => {}) : release([...held]).catch(() => {})),
  };
}
