import { describeValue } from '../../internal/describe-value.ts';
import { PostChainError } from '../error.ts';

/** A pool of `pg`, a PGlite, or anything else with `query`. Without `connect` or `listen`, changes are polled. */
export interface PostgresPool {
  query(sql: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  /** Takes a connection out of the pool. */
  connect?(): Promise<PostgresConnection>;
  /** Listens on the only connection. Resolves to a function that stops it. */
  listen?(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
}

interface PostgresConnection {
  query(sql: string): Promise<unknown>;
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy: boolean): void;
}

/** A connection string, or a pool, which the caller closes. */
export type PostgresSource = string | PostgresPool;

/** Tables in a PostgreSQL database, created on first use. */
export interface PostgresTables {
  /** Executes a statement. If the connection is lost, tries it again for ten seconds, so it must not matter whether it is executed twice. */
  rows<Row>(sql: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Calls `onPayload` for each notification of a channel, and with null if some may have been missed. Returns a function that stops it. */
  listen(channel: string, onPayload: (payload: string | null) => void): () => void;
  close(): Promise<void>;
}

/** "PCjo" in ASCII: processes that start at once create the tables one after the other. */
const LOCK = 0x50436a6f;

const RETRY_MS = 10_000;
const FIRST_RETRY_MS = 50;

/** `table` exists if all of the `schema` does. */
export function openPostgres(source: PostgresSource, what: string, table: string, schema: string): PostgresTables {
  if (typeof (source as PostgresPool | null)?.query !== 'function' && (typeof source !== 'string' || source === ''))
    throw new PostChainError(
      'invalid_option',
      `${what}: expected a connection string, a pool of pg or a PGlite; received ${describeValue(source)}`,
    );
  const own = typeof source === 'string' ? createPool(source) : null;
  const pool = own ?? (source as PostgresPool);
  const listeners = new Map<string, ReturnType<typeof createListener>>();
  let created: Promise<unknown> | null = null;
  let hasConnected = false;
  let isClosed = false;

  /** One statement, because PGlite takes no more. Roles that must not create tables can use existing ones. */
  const create = (): Promise<unknown> =>
    pool.query(`DO $create$ BEGIN
      IF to_regclass('${table}') IS NULL THEN
        PERFORM pg_advisory_xact_lock(${LOCK});
        ${schema}
      END IF;
    END $create$`);

  async function query(sql: string, values: readonly unknown[]): Promise<readonly unknown[]> {
    created ??= create();
    await created.catch((error) => {
      created = null;
      throw error;
    });
    hasConnected = true;
    return (await pool.query(sql, [...values])).rows;
  }

  return {
    async rows<Row>(sql: string, values: readonly unknown[]) {
      const untilMs = performance.now() + RETRY_MS;
      for (let delayMs = FIRST_RETRY_MS; ; delayMs *= 2) {
        if (isClosed) throw new PostChainError('invalid_path', `${what}: the store is closed`);
        try {
          return (await query(sql, values)) as readonly Row[];
        } catch (cause) {
          const isLost = hasConnected && isConnectionError(cause) && performance.now() + delayMs < untilMs;
          if (!isLost) throw unusable(what, cause);
        }
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    },
    listen(channel, onPayload) {
      const listener = listeners.get(channel) ?? createListener(pool, channel);
      listeners.set(channel, listener);
      return listener.add(onPayload);
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const listener of listeners.values()) listener.end();
      await own?.end();
    },
  };
}

/** PostgreSQL's own errors have a code of five characters with a digit; 08, 53 and 57P are about connections and restarts. */
function isConnectionError(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code !== 'string' || !/^(?=.*\d)[0-9A-Z]{5}$/u.test(code) || /^(?:08|53|57P)/u.test(code);
}

function unusable(what: string, cause: unknown): PostChainError {
  // An error for several addresses has no message.
  const { message, code } = Object(cause) as { readonly message?: string; readonly code?: string };
  return new PostChainError('invalid_path', `${what}: cannot use the database: ${message || code}`, { cause });
}

interface OwnPool extends PostgresPool {
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

/** Creates a pool of `pg`, an optional peer dependency. */
function createPool(connectionString: string): OwnPool {
  const { createRequire } = process.getBuiltinModule('node:module');
  let pg: { readonly Pool: new (config: object) => OwnPool };
  try {
    pg = createRequire(import.meta.url)('pg');
  } catch (cause) {
    throw new PostChainError('package_missing', 'the package pg is not installed; run: npm install pg', { cause });
  }
  const pool = new pg.Pool({ connectionString, keepAlive: true });
  // An idle connection was lost; the pool replaces it.
  pool.on('error', () => {});
  return pool;
}

const RECONNECT_MS = 1_000;
/** Some proxies forward no notifications, and a lost connection may go unnoticed for minutes. */
const MISSED_MS = 30_000;

/** Listens on one connection while there are listeners. */
function createListener(pool: PostgresPool, channel: string) {
  const listeners = new Set<(payload: string | null) => void>();
  let stop: (() => void) | null = null;
  const report = (payload: string | null): void => {
    for (const listener of [...listeners]) listener(payload);
  };

  function start(): () => void {
    let isStopped = false;
    let disconnect = (): void => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    function reportLater(): void {
      const hasConnection = pool.listen !== undefined || pool.connect !== undefined;
      timer = setTimeout(
        () => {
          report(null);
          reportLater();
        },
        hasConnection ? MISSED_MS : RECONNECT_MS,
      );
    }
    function lost(): void {
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(() => void connect(), RECONNECT_MS);
    }
    async function connect(): Promise<void> {
      try {
        const connected = await subscribe(pool, channel, report, lost);
        if (isStopped) return connected();
        disconnect = connected;
        reportLater();
      } catch {
        lost();
      }
      // Whatever changed before is not reported.
      report(null);
    }
    void connect();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      disconnect();
    };
  }
  function end(): void {
    stop?.();
    stop = null;
  }
  return {
    add(listener: (payload: string | null) => void): () => void {
      listeners.add(listener);
      stop ??= start();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) end();
      };
    },
    /** Wakes the listeners a last time: their next query rejects. */
    end() {
      end();
      report(null);
    },
  };
}

/** Returns a function that gives the connection back. */
async function subscribe(
  pool: PostgresPool,
  channel: string,
  onPayload: (payload: string) => void,
  onLost: () => void,
): Promise<() => void> {
  if (pool.listen !== undefined) {
    const unlisten = await pool.listen(channel, onPayload);
    return () => void unlisten().catch(() => {});
  }
  const connection = await pool.connect?.();
  if (connection === undefined) return () => {};
  let isOpen = true;
  function release(): boolean {
    const wasOpen = isOpen;
    isOpen = false;
    if (wasOpen) connection?.release(true);
    return wasOpen;
  }
  const lose = (): void => {
    if (release()) onLost();
  };
  connection.on('error', lose);
  connection.on('end', lose);
  connection.on('notification', ({ payload = '' }) => onPayload(payload));
  try {
    await connection.query(`LISTEN ${channel}`);
  } catch (error) {
    release();
    throw error;
  }
  return () => void release();
}
