import { parseJson } from '../../internal/json-text.ts';
import type { JournalFormat, JournalStoreOptions, ManagedJournals, StoredEntry } from './journal-store.ts';
import { fencedError, heartbeat, type Lease, leaseState, parseHolder, takeOver, thisHolder } from './lease.ts';
import { createLineStore, journalExists, type LineSink, noSuchJournal, subjectOf } from './line-store.ts';
import { openPostgres, type PostgresSource, type PostgresTables } from './postgres.ts';

export type PostgresJournals<Entry, Summary> = ManagedJournals<Entry, Summary> & {
  /** Releases every journal that is still being written. Closes the connections, unless the store was given a pool. */
  close(): Promise<void>;
};

/** How long a lease is valid after a write or a heartbeat, by the clock of the database. */
const LEASE_MS = 10_000;
const EXPIRES = `now() + interval '${LEASE_MS} milliseconds'`;

/**
 * `name` is the id of the journal as JSON, because PostgreSQL stores no zero characters. `owner` is the process that holds the lease, as JSON;
 * null if none does. `token` is random for every lease, so that a journal created again under its id rejects earlier writers.
 */
const schemaOf = ({ journals, lines }: TableNames): string => `
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
    journal bigint NOT NULL REFERENCES ${journals} ON DELETE CASCADE,
    seq integer NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (journal, seq)
  );`;

interface TableNames {
  readonly journals: string;
  readonly lines: string;
}

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

/**
 * Returns a journal store in a PostgreSQL database, which several processes may use at once. Its tables are created on first use. The entries
 * of each step are one statement, which also checks and renews the lease. If the connection is lost, statements are tried again for ten seconds.
 * `create` does not connect: if the journal exists, its first write fails. Throws `invalid_option` if `source` is neither a connection string nor
 * a pool, and `package_missing` if a connection string needs `pg`; its methods reject with `invalid_path` if the database cannot be used.
 */
export function createPostgresJournals<Entry extends StoredEntry, Summary>(
  source: PostgresSource,
  format: JournalFormat<Entry, Summary>,
  options: Omit<JournalStoreOptions, 'fsync'> = {},
): PostgresJournals<Entry, Summary> {
  const names = { journals: `postchain_${format.noun}s`, lines: `postchain_${format.noun}_lines` };
  const { journals, lines } = names;
  const db = openPostgres(source, 'postgresJournals', lines, schemaOf(names));
  const leases = createLeases(db, journals);
  /** The sinks that this store has open, by the names of their journals. */
  const sinks = new Map<string, PostgresSink>();
  const owner = JSON.stringify(thisHolder());

  async function rowOf(name: string): Promise<Row | undefined> {
    const [row] = await db.rows<Row>(`SELECT ${ROW} FROM ${journals} WHERE name = $1`, [name]);
    return row;
  }
  /** Acts on a journal that no other process writes: `replace` returns null if its row is no longer as it was read. */
  const takeOverRow = <Value>(id: string, force: boolean, replace: (token: number) => Promise<Value | null>) =>
    takeOver(subjectOf(format, id), force, {
      async read() {
        const row = await rowOf(nameOf(id));
        if (row === undefined) throw noSuchJournal(format, id);
        return leaseOf(row);
      },
      // No lease has the token -1.
      replace: (previous) => replace(previous?.token ?? -1),
    });
  /** What this store has been given to write can be read. */
  const written = async (id: string): Promise<void> => sinks.get(nameOf(id))?.written();

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
      if (page.length === 0 && sinks.get(nameOf(id))?.isNew !== true) throw noSuchJournal(format, id);
      for (const { line } of page) if (line !== null) yield line;
      if (page.length < PAGE_LINES) return;
      last = page.at(-1)?.seq ?? last;
    }
  }

  function openSink(id: string, token: number, count: number, isNew: boolean): LineSink {
    const sink = createSink({ db, names, format, id, token, owner, count, isNew });
    sinks.set(nameOf(id), sink);
    leases.hold(nameOf(id), token);
    return {
      append: sink.append,
      async close() {
        await sink.written();
        if (sinks.get(nameOf(id)) === sink) sinks.delete(nameOf(id));
        await leases.release(nameOf(id), token);
      },
    };
  }

  const store = createLineStore(
    {
      create(id) {
        if (sinks.has(nameOf(id))) throw journalExists(format, id);
        return openSink(id, newToken(), 0, true);
      },
      async has(id) {
        await written(id);
        return (await rowOf(nameOf(id))) !== undefined;
      },
      lines: (id, from = 0) => linesFrom(id, from - 1, false),
      linesBackward: (id) => linesFrom(id, MAX_SEQ, true),
      async reopen(id, { force = false }) {
        await written(id);
        const token = newToken();
        const count = await takeOverRow(id, force, async (previous) => {
          const [row] = await db.rows<{ lines: number }>(
            `UPDATE ${journals} SET owner = $2, token = $3, expires = ${EXPIRES}
             WHERE name = $1 AND (owner IS NULL OR expires <= now() OR token IN ($3, $4)) RETURNING lines`,
            [nameOf(id), owner, token, previous],
          );
          return row?.lines ?? null;
        });
        return openSink(id, token, count, false);
      },
      async remove(id) {
        await written(id);
        await takeOverRow(id, false, async (previous) => {
          const [row] = await db.rows(
            `WITH gone AS (
               DELETE FROM ${journals} WHERE name = $1 AND (owner IS NULL OR expires <= now() OR token = $2) RETURNING name
             ) SELECT ${notify(names)} FROM gone`,
            [nameOf(id), previous],
          );
          return row ?? null;
        });
      },
      async *bounds({ ids, onFound, list } = {}) {
        for (const sink of sinks.values()) await sink.written();
        const wanted = [ids?.map(nameOf) ?? null, list?.startedAt ?? null, list?.hasEnded ?? null];
        const where = `($1::text[] IS NULL OR name = ANY($1)) AND ($2::text IS NULL OR started <= $2)
          AND ($3::boolean IS NULL OR ended = $3)`;
        if (onFound !== undefined) {
          const [found] = await db.rows<{ count: number }>(
            `SELECT count(*)::integer AS count FROM ${journals} WHERE ${where}`,
            wanted,
          );
          onFound(found?.count ?? 0);
        }
        for (let last: ListedRow | null = null; ; ) {
          const page: readonly ListedRow[] = await db.rows<ListedRow>(
            `SELECT id::text AS id, name, started, ${ROW},
               (SELECT line FROM ${lines} WHERE journal = id AND seq = 0) AS first,
               (SELECT line FROM ${lines} WHERE journal = id AND seq = lines - 1) AS last
             FROM ${journals} WHERE ${where} AND ($4::text IS NULL OR (started, id) < ($4, $5::bigint))
             ORDER BY started DESC, id DESC LIMIT ${PAGE_JOURNALS}`,
            [...wanted, last?.started ?? null, last?.id ?? null],
          );
          for (const row of page)
            yield {
              id: idOf(row.name),
              version: `${row.id} ${row.token} ${row.lines}`,
              lines: { first: row.first ?? '', last: row.last ?? '' },
              isWritten: leaseState(leaseOf(row)) !== 'free',
            };
          last = page.at(-1) ?? null;
          if (page.length < PAGE_JOURNALS) return;
        }
      },
      isOrdered: true,
      watch: (onChange) =>
        db.listen(journals, (payload) => onChange(payload === null || payload === '' ? null : [idOf(payload)])),
      watchOne: (id, onChange) =>
        db.listen(journals, (payload) => {
          if (payload === null || payload === '' || payload === nameOf(id)) onChange();
        }),
    },
    format,
    options,
  );
  // Not a copy of the store: storedJournalsOf() finds it by identity.
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

const nameOf = (id: string): string => JSON.stringify(id);

/** A damaged name is returned unchanged. */
function idOf(name: string): string {
  const read = parseJson(name);
  return typeof read === 'string' ? read : name;
}

/** Tells followers which journal has changed; nothing for a name that is too long for a notification. */
const notify = ({ journals }: TableNames): string =>
  `pg_notify('${journals}', CASE WHEN octet_length(name) < 7000 THEN name ELSE '' END)`;

/** Returns null if the lease has expired. */
function leaseOf({ owner, token, isValid, expiresMs }: Row): Lease | null {
  if (owner === null || !isValid) return null;
  return { holder: parseHolder(parseJson(owner)), token, beatMs: expiresMs };
}

const newToken = (): number => {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 20) * 2 ** 32 + low;
};

/** Keeps the leases of a store valid. */
function createLeases(db: PostgresTables, journals: string) {
  const held = new Map<number, string>();
  let beats: ReturnType<typeof heartbeat> | null = null;
  const leasesIn = '(name, token) IN (SELECT * FROM unnest($1::text[], $2::bigint[]))';
  function beat(): void {
    const sql = `UPDATE ${journals} SET expires = ${EXPIRES} WHERE ${leasesIn}`;
    // The next beat tries again.
    db.rows(sql, [[...held.values()], [...held.keys()]]).catch(() => {});
  }
  async function release(released: readonly (readonly [number, string])[]): Promise<void> {
    for (const [token] of released) held.delete(token);
    if (held.size === 0) {
      beats?.end();
      beats = null;
    }
    if (released.length === 0) return;
    await db.rows(
      `WITH freed AS (UPDATE ${journals} SET owner = NULL WHERE ${leasesIn} RETURNING name)
       SELECT ${notify({ journals, lines: '' })} FROM freed`,
      [released.map(([, name]) => name), released.map(([token]) => token)],
    );
  }
  return {
    hold(name: string, token: number): void {
      held.set(token, name);
      beats ??= heartbeat(beat);
    },
    release: (name: string, token: number) => release(held.has(token) ? [[token, name]] : []),
    /** If that fails, they expire. */
    releaseAll: () => release([...held]).catch(() => {}),
  };
}

interface PostgresSink extends LineSink {
  /** Whether no line has been stored yet. */
  readonly isNew: boolean;
  /** Resolves when the lines of all earlier calls are stored, or have failed. */
  written(): Promise<void>;
}

interface SinkOptions {
  readonly db: PostgresTables;
  readonly names: TableNames;
  readonly format: Pick<JournalFormat<never, unknown>, 'noun'>;
  readonly id: string;
  readonly token: number;
  readonly owner: string;
  /** The number of lines before. */
  readonly count: number;
  readonly isNew: boolean;
}

interface Batch {
  readonly lines: string[];
  readonly startedAt: string;
  isEnd: boolean;
  readonly written: Promise<void>;
}

/** Writes one journal: each statement has the lines of all steps since the statement before it began. */
function createSink({ db, names, format, id, token, owner, count, isNew: wasNew }: SinkOptions): PostgresSink {
  const { journals, lines } = names;
  const name = nameOf(id);
  let from = count;
  let isNew = wasNew;
  let waiting: Batch | null = null;
  let last: Promise<void> = Promise.resolve();

  /** Inserts lines after those of a row of the journal, if there is one. */
  const insert = `, inserted AS (
      INSERT INTO ${lines} (journal, seq, line)
      SELECT id, $4::integer + place - 1, line FROM journal, unnest($3::text[]) WITH ORDINALITY AS given (line, place)
    ) SELECT ${notify(names)} FROM journal`;
  const INSERT = `WITH journal AS (
      INSERT INTO ${journals} (name, token, lines, ended, started, owner, expires)
      VALUES ($1, $2, $4::integer + cardinality($3::text[]), $5, $6, $7, ${EXPIRES})
      ON CONFLICT (name) DO NOTHING RETURNING id, name
    )${insert}`;
  const UPDATE = `WITH journal AS (
      UPDATE ${journals} SET lines = lines + cardinality($3::text[]), ended = $5, expires = ${EXPIRES}
      WHERE name = $1 AND token = $2 AND lines = $4 RETURNING id, name
    )${insert}`;

  async function write(batch: Batch): Promise<void> {
    const values = [name, token, batch.lines, from, batch.isEnd];
    const rows = await (isNew ? db.rows(INSERT, [...values, batch.startedAt, owner]) : db.rows(UPDATE, values));
    if (rows.length === 0) await requireStored(from + batch.lines.length);
    from += batch.lines.length;
    isNew = false;
  }

  /** If the connection was lost before the result of the write arrived, it was tried again. */
  async function requireStored(expected: number): Promise<void> {
    const [row] = await db.rows<Row>(`SELECT ${ROW} FROM ${journals} WHERE name = $1`, [name]);
    if (row?.token === token && row.lines === expected) return;
    throw isNew && row !== undefined
      ? journalExists(format, id)
      : fencedError(subjectOf(format, id), row === undefined ? null : leaseOf(row));
  }

  return {
    get isNew() {
      return isNew;
    },
    append(added, { startedAt = '', isEnd }) {
      if (waiting !== null) {
        waiting.lines.push(...added);
        waiting.isEnd = isEnd;
        return waiting.written;
      }
      const written = last.then(() => {
        waiting = null;
        return write(batch);
      });
      const batch: Batch = { lines: [...added], startedAt, isEnd, written };
      waiting = batch;
      last = written;
      return written;
    },
    close() {},
    written: () => last.catch(() => {}),
  };
}
