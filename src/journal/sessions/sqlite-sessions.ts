import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { SessionStore } from '../../../machines/contracts/session.ts';
import { textOfTurn, turnOfText } from '../../engine/runtime/memory-sessions.ts';
import { describeValue, invalidOption } from '../../internal/options.ts';
import { closeSqliteFile, openSqliteFile, type SqliteFile } from '../sqlite-file.ts';

export interface SqliteSessionsOptions {
  /** Turns kept of each session, the newest; 1,000 by default. */
  readonly maxTurns?: number;
}

export interface SqliteSessions extends SessionStore {
  /** Opens the file now, to know that it can be used; otherwise the first recall or append does. Rejects with `session_failed`. */
  open(): Promise<void>;
  /** Closes the file. What is asked of the store afterwards rejects. */
  close(): void;
}

const optionsSchema = z.strictObject({ maxTurns: z.int().min(1).default(1_000) });

/**
 * Sessions in an SQLite file, which several processes may use at once. It is made when it is first needed, for nobody but its owner to
 * read. Needs the package `libsql`. Throws `invalid_option` for options that make no sense; a file that cannot be used rejects with
 * `session_failed`.
 */
export function sqliteSessions(path: string, options: SqliteSessionsOptions = {}): SqliteSessions {
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0') || path === ':memory:')
    throw new PostChainError(
      'invalid_option',
      `sqliteSessions: got ${describeValue(path)}; wanted the path of a file; memorySessions() keeps sessions in memory.`,
    );
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('sqliteSessions', options, read.error, optionsSchema);
  const { maxTurns } = read.data;
  // Taken now: the working folder may be another one later.
  const place = process.getBuiltinModule('node:path').resolve(path);
  const connection = createConnection(() => openSessionFile(place));
  const withFile = async <Value>(act: (file: SessionFile) => Value, signal?: AbortSignal): Promise<Value> => {
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
        const read = texts.flatMap((text) => turnOfText(text) ?? []);
        const lost = texts.length - read.length;
        if (lost > 0) onProblem?.(`${lost} of ${texts.length} turns are damaged`);
        return read;
      }, signal),
    async append(sessionId, turn, { signal }) {
      const text = textOfTurn(turn);
      await withFile((file) => appendText(file, sessionId, turn.runId, text, maxTurns), signal);
    },
  };
}

/** A session by the text that its id is kept as. */
const keyOf = (id: string): string => JSON.stringify(id);

/** The oldest first. */
function newestTexts(file: SessionFile, sessionId: string, turns: number): readonly unknown[] {
  if (!(turns >= 1)) return [];
  const newest = file.prepare('SELECT CAST(turn AS BLOB) FROM turn WHERE session = ? ORDER BY id DESC LIMIT ?').raw();
  const rows = newest.all([keyOf(sessionId), Math.floor(turns)]) as [Uint8Array][];
  // As bytes: the library ends the process where a text is no UTF-8, as in a file that was damaged.
  return rows.map(([bytes]) => new TextDecoder().decode(bytes)).reverse();
}

function appendText(file: SessionFile, sessionId: string, runId: string, text: string, maxTurns: number): void {
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
  const remedy = KNOWN_REMEDY.test(reason ?? '')
    ? ''
    : ': give a file that sqliteSessions made, or one that is not there yet';
  return new PostChainError('session_failed', `The sessions in "${path}" cannot be used (${reason})${remedy}.`, {
    cause: error,
  });
}

/** What is wrong is not the file. */
const KNOWN_REMEDY = /npm install libsql|it was closed/;

/** A connection that is opened when it is first asked for, once for all who ask, and after a failure again. */
function createConnection(open: () => SessionFile) {
  let opening: Promise<SessionFile> | null = null;
  let file: SessionFile | null = null;
  let closed = false;

  const begin = async (): Promise<SessionFile> => {
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
    async get(): Promise<SessionFile> {
      if (!closed) opening ??= begin();
      const opened = await opening;
      if (opened === null || closed) throw new Error('it was closed');
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

/** A connection to a file of sessions. */
type SessionFile = SqliteFile;

/** Session ids and turns are JSON text: SQLite would cut a plain one at a zero character. */
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

/** Opens a file of sessions, marked with "PCse" in ASCII; others may use it at the same time. Throws where the file is something else. */
function openSessionFile(path: string): SessionFile {
  return openSqliteFile(path, {
    applicationId: 0x50437365,
    version: 1,
    schema: SCHEMA,
    busyMs: 50,
    synchronous: 'FULL',
  });
}

const TRIES = 100;
const WAIT_MS = 50;

/**
 * Does something with a file that another process may hold, and again while it does: for about ten seconds, without blocking this
 * process in between. Rejects when the signal aborts.
 */
async function whileBusy<Value>(act: () => Value | Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error) || tries >= TRIES) throw error;
    }
    const { setTimeout: sleep } = await import('node:timers/promises');
    await sleep(WAIT_MS, undefined, signal && { signal });
  }
}

function isBusy(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
