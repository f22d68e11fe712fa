import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type SessionStore, TURNS_WITH_KEPT } from '../../machines/contracts/session.ts';
import { openPostgres, type PostgresSource } from '../durable/journals/postgres.ts';
import { unlessAborted } from '../internal/async.ts';
import { parseOption } from '../internal/options.ts';
import { parseTurn, serializeTurn } from './runtime/memory-sessions.ts';

export interface PostgresSessionsOptions {
  /** How many turns of each session are kept, the newest ones; 1,000 by default. */
  readonly maxTurns?: number;
}

export interface PostgresSessions extends SessionStore {
  /** Connects now, to check that the database can be used; otherwise the first recall or append does. Rejects with `session_failed`. */
  open(): Promise<void>;
  /** Closes the connections, unless the store was given a pool. Later calls reject. */
  close(): Promise<void>;
}

const optionsSchema = z.strictObject({ maxTurns: z._default(z.int().check(z.gte(1)), 1_000) });

/** `session` and `run` are ids as JSON, because PostgreSQL stores no zero characters. `kept` is a part of the turn. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS postchain_turns (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    turn text NOT NULL,
    kept text,
    UNIQUE (session, run)
  );
  CREATE INDEX IF NOT EXISTS postchain_turns_by_session ON postchain_turns (session, id);`;

/** The ids are ranked with the new one, because the parts of a statement do not see each other's changes. */
const APPEND = `
  WITH appended AS (
    INSERT INTO postchain_turns (session, run, turn, kept) VALUES ($1, $2, $3, $4)
    ON CONFLICT (session, run) DO UPDATE SET turn = excluded.turn, kept = excluded.kept RETURNING id
  ), ranked AS (
    SELECT id, row_number() OVER (ORDER BY id DESC) AS rank
    FROM (SELECT id FROM postchain_turns WHERE session = $1 UNION SELECT id FROM appended) AS ids
  ), dropped AS (
    DELETE FROM postchain_turns WHERE id IN (SELECT id FROM ranked WHERE rank > $5)
  )
  UPDATE postchain_turns SET kept = NULL
  WHERE kept IS NOT NULL AND id IN (SELECT id FROM ranked WHERE rank > ${TURNS_WITH_KEPT} AND rank <= $5)`;

/**
 * Returns a session store in a PostgreSQL database, which several processes may use at once. Its table is created on first use. `source` is a
 * connection string (requires the package `pg`), or a pool of `pg`, or a PGlite; the store does not close a pool. Throws `invalid_option` for
 * invalid options; its methods reject with `session_failed` if the database cannot be used.
 */
export function postgresSessions(source: PostgresSource, options: PostgresSessionsOptions = {}): PostgresSessions {
  const { maxTurns } = parseOption(optionsSchema, options, 'postgresSessions');
  const db = openPostgres(source, 'postgresSessions', 'postchain_turns_by_session', SCHEMA);
  async function rows<Row>(sql: string, values: readonly unknown[], signal?: AbortSignal): Promise<readonly Row[]> {
    signal?.throwIfAborted();
    const queried = db.rows<Row>(sql, values).catch((cause) => {
      throw new PostChainError('session_failed', (cause as Error).message, { cause });
    });
    return signal === undefined ? queried : unlessAborted(queried, signal);
  }

  return {
    open: async () => void (await rows('SELECT 1', [])),
    close: () => db.close(),
    async recall(sessionId, { turns, signal, onProblem }) {
      if (!(turns >= 1)) return [];
      const newest = await rows<{ turn: string; kept: string | null }>(
        'SELECT turn, kept FROM postchain_turns WHERE session = $1 ORDER BY id DESC LIMIT $2',
        [keyOf(sessionId), Math.floor(Math.min(turns, maxTurns))],
        signal,
      );
      const read = newest.toReversed().flatMap(({ turn, kept }) => parseTurn(withKept(turn, kept)) ?? []);
      const damaged = newest.length - read.length;
      if (damaged > 0) onProblem?.(`${damaged} of ${newest.length} turns are damaged`);
      return read;
    },
    async append(sessionId, turn, { signal }) {
      const { kept, ...rest } = JSON.parse(serializeTurn(turn));
      const values = [JSON.stringify(rest), kept === undefined ? null : JSON.stringify(kept), maxTurns];
      await rows(APPEND, [keyOf(sessionId), keyOf(turn.runId), ...values], signal);
    },
  };
}

const keyOf = (id: string): string => JSON.stringify(id);

const withKept = (turn: string, kept: string | null): string =>
  kept === null ? turn : `${turn.slice(0, -1)},"kept":${kept}}`;
