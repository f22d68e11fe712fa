import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeValue } from '../../internal/describe-value.ts';

/** A pool of `pg`, a PGlite, or anything else with `query`. Without `connect` or `listen`, or a connection to spare, changes are polled. */
export interface PostgresPool {
  /** `max` is the number of connections. */
  readonly options?: { readonly max?: number | undefined };
  /** With `connect`, `sql` may also be a prepared statement, as in `pg`. */
  query(sql: string | PreparedStatement, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
  /** Takes a connection out of the pool. */
  connect?(): Promise<PostgresConnection>;
  /** Reports new connections before `connect` resolves. */
  on?(event: 'connect', listener: (connection: Pick<PostgresConnection, 'on'>) => void): unknown;
  /** Listens on the only connection. Resolves to a function that stops it. */
  listen?(channel: string, onPayload: (payload: string) => void): Promise<() => Promise<void>>;
}

interface PreparedStatement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

interface PostgresConnection {
  query(sql: string): Promise<unknown>;
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error' | 'end', listener: () => void): unknown;
  release(destroy: boolean): void;
  ref?(): void;
  unref?(): void;
}

/** A connection string, or a pool, which the caller closes. */
export type PostgresSource = string | PostgresPool;

/** Tables in a PostgreSQL database, created on first use. */
export interface PostgresTables {
  /**
   * Executes a statement. If the server cannot be reached, retries it for ten seconds, so it must be idempotent. A statement with a
   * `name` is prepared, because planning it takes as long as executing it.
   */
  rows<Row>(sql: string, values: readonly unknown[], name?: string): Promise<readonly Row[]>;
  /**
   * Calls `onPayload` for each notification, and with null if some may have been missed. Keeps the process alive by default. Returns a function
   * that stops it.
   */
  listen(onPayload: (payload: string | null) => void, options?: { readonly keepsAlive: boolean }): () => void;
  close(): Promise<void>;
}

/** The key of an advisory lock ("PCjo" in ASCII): processes that start at the same time create the tables one after another. */
const LOCK = 0x50436a6f;

/** PostgreSQL's codes for a prepared statement that is missing, or already exists. */
const NOT_PREPARED: readonly unknown[] = ['26000', '42P05'];

const RETRY_MS = 10_000;
const FIRST_RETRY_MS = 50;

/** `table` exists if all of the `schema` does. */
export function openPostgres(
  source: PostgresSource,
  what: string,
  table: string,
  schema: string,
  channel = table,
): PostgresTables {
  if (typeof (source as PostgresPool | null)?.query !== 'function' && (typeof source !== 'string' || source === ''))
    throw new PostChainError(
      'invalid_option',
      `${what}: expected a connection string, a pool of pg or a PGlite; received ${describeValue(source)}`,
    );
  const own = typeof source === 'string' ? createPool(source) : null;
  const pool = own ?? (source as PostgresPool);
  handleErrors(pool);
  const listener = createListener(pool, channel);
  let created: Promise<unknown> | null = null;
  let isClosed = false;
  let canPrepare = pool.connect !== undefined;

  /** One statement, because PGlite takes no more. Roles that must not create tables can use existing ones. */
  const create = (): Promise<unknown> =>
    pool.query(`DO $create$ BEGIN
      IF to_regclass('${table}') IS NULL THEN
        PERFORM pg_advisory_xact_lock(${LOCK});
        ${schema}
      END IF;
    END $create$`);

  async function query(text: string, values: readonly unknown[], name?: string): Promise<readonly unknown[]> {
    created ??= create();
    await created.catch((error) => {
      created = null;
      throw error;
    });
    const isPrepared = name !== undefined && canPrepare;
    const result = isPrepared ? pool.query({ name, text, values: [...values] }) : pool.query(text, [...values]);
    return (await result).rows;
  }

  return {
    async rows<Row>(sql: string, values: readonly unknown[], name?: string) {
      let untilMs: number | null = null;
      for (let delayMs = FIRST_RETRY_MS; ; delayMs *= 2) {
        if (isClosed) throw new PostChainError('invalid_path', `${what}: the store is closed`);
        try {
          return (await query(sql, values, name)) as readonly Row[];
        } catch (cause) {
          // Some proxies give each statement another connection.
          if (canPrepare && NOT_PREPARED.includes((Object(cause) as { code?: unknown }).code)) {
            canPrepare = false;
            continue;
          }
          // Counted from the first failure: if this process was paused and lost its connection, the statement may have begun long before.
          untilMs ??= performance.now() + RETRY_MS;
          if (!isConnectionError(cause) || performance.now() + delayMs > untilMs) throw unusable(what, cause);
        }
        await new Promise((resolve) => setTimeout(resolve, delayMs));
      }
    },
    listen: listener.add,
    async close() {
      if (isClosed) return;
      isClosed = true;
      listener.end();
      await own?.end();
    },
  };
}

const handled = new WeakSet<PostgresPool>();

/** If a connection is lost between its removal from the pool and the moment when `connect` resolves, nobody else handles its error. */
function handleErrors(pool: PostgresPool): void {
  if (handled.has(pool)) return;
  handled.add(pool);
  pool.on?.('connect', (connection) => void connection.on('error', () => {}));
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
  on(event: 'error' | 'connect', listener: (connection: Pick<PostgresConnection, 'on'>) => void): unknown;
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
  const pool = new pg.Pool({ connectionString, keepAlive: true, allowExitOnIdle: true });
  // An idle connection was lost; the pool replaces it.
  pool.on('error', () => {});
  return pool;
}

const TICK_MS = 1_000;
/** After this many ticks, changes are reported in any case: some proxies forward no notifications, and a lost connection may go unnoticed. */
const QUIET_TICKS = 30;

/** Listens on one connection while there are listeners, and reconnects if it is lost. */
function createListener(pool: PostgresPool, channel: string) {
  /** With whether each keeps the process alive. */
  const listeners = new Map<(payload: string | null) => void, boolean>();
  let running: { ref(): void; unref(): void } | null = null;
  let stop: (() => void) | null = null;
  const report = (payload: string | null): void => {
    for (const listener of [...listeners.keys()]) listener(payload);
  };
  const keepAliveIfNeeded = (): unknown => ([...listeners.values()].includes(true) ? running?.ref() : running?.unref());

  function start(): () => void {
    let disconnect: Subscription | null = null;
    let isConnecting = false;
    let isStopped = false;
    let ticks = 0;
    async function tick(): Promise<void> {
      ticks += 1;
      if (disconnect !== null && ticks % QUIET_TICKS !== 0) return;
      // A busy pool may take long to connect.
      if (isConnecting) return report(null);
      isConnecting = true;
      disconnect ??= await subscribe(pool, channel, report, () => {
        disconnect = null;
      }).catch(() => null);
      isConnecting = false;
      keepAliveIfNeeded();
      if (isStopped) disconnect?.();
      // Changes before the connection was ready were not reported.
      else report(null);
    }
    const timer = setInterval(() => void tick(), TICK_MS);
    const both = (act: 'ref' | 'unref') => {
      timer[act]?.();
      disconnect?.[act]?.();
    };
    running = { ref: () => both('ref'), unref: () => both('unref') };
    void tick();
    return () => {
      isStopped = true;
      clearInterval(timer);
      disconnect?.();
    };
  }
  function end(): void {
    stop?.();
    stop = null;
  }
  return {
    add(listener: (payload: string | null) => void, { keepsAlive } = { keepsAlive: true }): () => void {
      listeners.set(listener, keepsAlive);
      stop ??= start();
      keepAliveIfNeeded();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) end();
        else keepAliveIfNeeded();
      };
    },
    /** Wakes the listeners one last time: their next query rejects. */
    end() {
      end();
      report(null);
    },
  };
}

/** Gives the connection back. `ref` and `unref` decide whether it keeps the process alive. */
type Subscription = (() => void) & Pick<PostgresConnection, 'ref' | 'unref'>;

/** How many connections of a pool listen: several stores may share it. */
const listening = new WeakMap<PostgresPool, number>();

/** Returns a function that gives the connection back; null if there is none to listen on. */
async function subscribe(
  pool: PostgresPool,
  channel: string,
  onPayload: (payload: string) => void,
  onLost: () => void,
): Promise<Subscription | null> {
  if (pool.listen !== undefined) {
    const unlisten = await pool.listen(channel, onPayload);
    return () => void unlisten().catch(() => {});
  }
  const count = (change: number): void => void listening.set(pool, (listening.get(pool) ?? 0) + change);
  const { max = Number.POSITIVE_INFINITY } = pool.options ?? {};
  // Statements need a connection, too.
  if (pool.connect === undefined || (listening.get(pool) ?? 0) + 1 >= max) return null;
  count(1);
  const connection = await pool.connect().catch((error) => {
    count(-1);
    throw error;
  });
  let isOpen = true;
  function release(): void {
    if (!isOpen) return;
    isOpen = false;
    count(-1);
    connection.release(true);
  }
  function lose(): void {
    // A lost connection reports an error and its end: by then, there may be another one.
    if (!isOpen) return;
    release();
    onLost();
  }
  connection.on('error', lose);
  connection.on('end', lose);
  connection.on('notification', ({ payload = '' }) => onPayload(payload));
  try {
    await connection.query(`LISTEN ${channel}`);
  } catch (error) {
    release();
    throw error;
  }
  return Object.assign(release, { ref: () => connection.ref?.(), unref: () => connection.unref?.() });
}
