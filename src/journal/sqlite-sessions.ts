import { z } from 'zod';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { SessionStore } from '../../machines/contracts/session.ts';
import { parseTurn, serializeTurn } from '../engine/runtime/memory-sessions.ts';
import { invalidOption } from '../internal/options.ts';
import { closeSqliteFile, openSqliteFile, resolveSqlitePath, type SqliteFile } from './sqlite-file.ts';

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

const optionsSchema = z.strictObject({ maxTurns: z.int().min(1).default(1_000) });

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
  const connection = createConnection(() => openSessionFile(resolved));
  const withFile = async <Value>(act: (file: SqliteFile) => Value, signal?: AbortSignal): Promise<Value> => {
    try {
      const file = await connection.get();
      return await whileBusy(() => act(file), signal);
    } catch (error) {
      throw signal?.aborted ? error : sessionFailed(path, error);
    }
  };

  return {
    open: () => withFile(() => undefined),
    close: connection.close,
    recall: (sessionId, { turns, signal, onProblem }) =>
      withFile((file) => {
        const texts = newestTexts(file, sessionId, Math.min(turns, maxTurns));
        const read = texts.flatMap((text) => parseTurn(text) ?? []);
        const damaged = texts.length - read.length;
        if (damaged > 0) onProblem?.(`${damaged} of ${texts.length} turns are damaged`);
        return read;
      }, signal),
    async append(sessionId, turn, { signal }) {
      const text = serializeTurn(turn);
      await withFile((file) => appendText(file, sessionId, turn.runId, text, maxTurns), signal);
    },
  };
}

/** Ids are stored as JSON, because SQLite cuts text at a zero character. */
const keyOf = (id: string): string => JSON.stringify(id);

/** Returns the newest turns as text, the oldest of them first. */
function newestTexts(file: SqliteFile, sessionId: string, turns: number): readonly unknown[] {
  if (!(turns >= 1)) return [];
  const newest = file.prepare('SELECT CAST(turn AS BLOB) FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?').raw();
  const rows = newest.all([keyOf(sessionId), Math.floor(turns)]) as [Uint8Array][];
  // Read as bytes: libsql aborts the process if a damaged file has text that is not valid UTF-8.
  return rows.map(([bytes]) => new TextDecoder().decode(bytes)).reverse();
}

function appendText(file: SqliteFile, sessionId: string, runId: string, text: string, maxTurns: number): void {
  const session = keyOf(sessionId);
  const insert = file.prepare(
    'INSERT INTO turn (session, run, turn) VALUES (?, ?, ?) ON CONFLICT (session, run) DO UPDATE SET turn = excluded.turn',
  );
  const trim = file.prepare(
    'DELETE FROM turn WHERE session = ? AND id <= (SELECT id FROM turn WHERE session = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
  );
  const append = file.transaction(() => {
    insert.run([session, keyOf(runId), text]);
    trim.run([session, session, maxTurns]);
  });
  append.immediate();
}

function sessionFailed(path: string, error: unknown): PostChainError {
  const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
  const remedy = HAS_REMEDY.test(reason ?? '') ? '' : '; expected a file that sqliteSessions created, or a new path';
  return new PostChainError('session_failed', `Cannot use the sessions in "${path}": ${reason}${remedy}`, {
    cause: error,
  });
}

/** The file is not the problem. */
const HAS_REMEDY = /npm install libsql|the store is closed/;

/** Opens a connection on first use and shares it; after a failure, the next use tries again. */
function createConnection(open: () => SqliteFile) {
  let opening: Promise<SqliteFile> | null = null;
  let file: SqliteFile | null = null;
  let closed = false;

  const openOnce = async (): Promise<SqliteFile> => {
    try {
      file = await whileBusy(open);
      if (closed) closeSqliteFile(file);
      return file;
    } catch (error) {
      opening = null;
      throw error;
    }
  };
  return {
    async get(): Promise<SqliteFile> {
      if (!closed) opening ??= openOnce();
      const opened = await opening;
      if (opened === null || closed) throw new Error('the store is closed');
      return opened;
    },
    close(): void {
      if (!closed && file !== null) closeSqliteFile(file);
      closed = true;
      file = null;
      opening = null;
    },
  };
}

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

function openSessionFile(path: string): SqliteFile {
  return openSqliteFile(path, {
    // "PCse" in ASCII.
    applicationId: 0x50437365,
    version: 1,
    schema: SCHEMA,
    busyMs: 50,
    synchronous: 'FULL',
  });
}

const MAX_TRIES = 100;
const WAIT_MS = 50;

/**
 * Retries `act` while another process holds the file: for about ten seconds, without blocking this process between tries. Rejects when the
 * signal aborts.
 */
async function whileBusy<Value>(act: () => Value | Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error) || tries >= MAX_TRIES) throw error;
    }
    const { setTimeout: sleep } = await import('node:timers/promises');
    await sleep(WAIT_MS, undefined, signal && { signal });
  }
}

function isBusy(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
