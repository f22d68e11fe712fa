import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type SessionStore, TURNS_WITH_KEPT } from '../../machines/contracts/session.ts';
import {
  openSqliteFile,
  resolveSqlitePath,
  type SqliteConnection,
  sqliteReason,
} from '../durable/journals/sqlite-file.ts';
import { invalidOption } from '../internal/options.ts';
import { parseTurn, serializeTurn } from './runtime/memory-sessions.ts';

export interface SqliteSessionsOptions {
  /** How many turns of each session are kept, the newest ones; 1,000 by default. */
  readonly maxTurns?: number;
}

export interface SqliteSessions extends SessionStore {
  /** Opens the file now, to check that it can be used; otherwise the first recall or append opens it. Rejects with `session_failed`. */
  open(): Promise<void>;
  /** Closes the file. Later calls reject. */
  close(): void;
}

const optionsSchema = z.strictObject({ maxTurns: z._default(z.int().check(z.gte(1)), 1_000) });

/**
 * Returns a session store in an SQLite file, which several processes may use at once. The file is created on first use, readable by its
 * owner only. Requires the package `libsql`. Throws `invalid_option` for invalid options; its methods reject with `session_failed` if the
 * file cannot be used.
 */
export function sqliteSessions(path: string, options: SqliteSessionsOptions = {}): SqliteSessions {
  const resolved = resolveSqlitePath(path, 'sqliteSessions', 'memorySessions() to keep sessions');
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('sqliteSessions', options, read.error, optionsSchema);
  const { maxTurns } = read.data;
  const file = openSqliteFile(resolved, {
    // "PCse" in ASCII.
    applicationId: 0x50437365,
    schema: SCHEMA,
    waitMs: 10_000,
  });
  const orSessionFailed = async <Value>(pending: Promise<Value>, signal?: AbortSignal): Promise<Value> => {
    try {
      return await pending;
    } catch (error) {
      throw signal?.aborted ? error : sessionFailed(path, sqliteReason(error, resolved), error);
    }
  };

  return {
    open: () => orSessionFailed(file.read(() => undefined)),
    close: () => file.close(),
    async recall(sessionId, { turns, signal, onProblem }) {
      const newest = file.read((connection) => newestTexts(connection, sessionId, Math.min(turns, maxTurns)), signal);
      const texts = await orSessionFailed(newest, signal);
      const read = texts.flatMap((text) => parseTurn(text) ?? []);
      const damaged = texts.length - read.length;
      if (damaged > 0) onProblem?.(`${damaged} of ${texts.length} turns are damaged`);
      return read;
    },
    async append(sessionId, turn, { signal }) {
      const text = serializeTurn(turn);
      const act = (connection: SqliteConnection) => appendText(connection, sessionId, turn.runId, text, maxTurns);
      await orSessionFailed(file.write(act, { isSynced: true, signal }), signal);
    },
  };
}

/** Ids are stored as JSON, because SQLite cuts text at a zero character. */
const keyOf = (id: string): string => JSON.stringify(id);

/** Returns the newest turns as text, the oldest of them first. */
function newestTexts(connection: SqliteConnection, sessionId: string, turns: number): readonly unknown[] {
  if (!(turns >= 1)) return [];
  const sql = 'SELECT CAST(turn AS BLOB) AS turn FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?';
  const rows = connection.all<{ turn: Uint8Array }>(sql, [keyOf(sessionId), Math.floor(turns)]);
  return rows.map(({ turn }) => new TextDecoder().decode(turn)).toReversed();
}

function appendText(
  connection: SqliteConnection,
  sessionId: string,
  runId: string,
  text: string,
  maxTurns: number,
): void {
  const session = keyOf(sessionId);
  connection.run(
    'INSERT INTO turn (session, run, turn) VALUES (?, ?, ?) ON CONFLICT (session, run) DO UPDATE SET turn = excluded.turn',
    [session, keyOf(runId), text],
  );
  connection.run(
    `UPDATE turn SET turn = json_remove(turn, '$.kept')
     WHERE id = (SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT 1 OFFSET ?) AND json_valid(turn)`,
    [session, TURNS_WITH_KEPT],
  );
  connection.run(
    'DELETE FROM turn WHERE session = ? AND id <= (SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
    [session, session, maxTurns],
  );
}

function sessionFailed(path: string, reason: string, error: unknown): PostChainError {
  const remedy = HAS_REMEDY.test(reason) ? '' : '; expected a file that sqliteSessions created, or a new path';
  return new PostChainError('session_failed', `Cannot use the sessions in "${path}": ${reason}${remedy}`, {
    cause: error,
  });
}

/** The file is not the problem. */
const HAS_REMEDY = /npm install libsql|the store is closed|the disk is full|locked for/;

const SCHEMA = `
  CREATE TABLE turn (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    run TEXT NOT NULL,
    turn TEXT NOT NULL,
    UNIQUE (session, run)
  ) STRICT;
  CREATE INDEX turn_by_session ON turn (session, id);
`;
