import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';

const DEBIAN = '/usr/lib/postgresql';

/** Where the programs `initdb` and `postgres` are; null if they are not installed and the environment does not require them. */
const folder: string | null =
  [
    ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : []),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ].find((path) => ['initdb', 'postgres'].every((name) => existsSync(join(path, name)))) ?? null;

export const hasPostgres = folder !== null;

if (!hasPostgres && process.env['POSTCHAIN_POSTGRES'] === 'required')
  throw new Error(
    'initdb and postgres were not found, but POSTCHAIN_POSTGRES=required. Install PostgreSQL, or unset it to skip these tests.',
  );

/** A PostgreSQL server of this process, on a socket in a temporary folder. */
export interface PostgresServer {
  /** Returns the connection string for a new schema. */
  newSchema(): Promise<string>;
  /** Returns a pool, until the test ends. */
  pool(url: string, max?: number): pg.Pool;
  /** Ends the connections of all others, as a restart does. */
  disconnectAll(): Promise<void>;
  /** Kills the server at once, and starts it again. `isFull`: until the next time, it cannot make its largest file any larger. */
  crash(options?: { readonly isFull?: boolean }): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresServer> {
  const place = mkdtempSync(join(tmpdir(), 'pg-'));
  const data = join(place, 'data');
  const user = serverUser();
  if (user !== null) chownSync(place, user.uid, user.gid);
  chmodSync(place, 0o700);
  // Files of the log are the smallest, so that they are below any limit of `crash`.
  const auth = ['--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C', '--wal-segsize=1'];
  execFileSync(join(folder ?? '', 'initdb'), ['-D', data, ...auth], { ...user, cwd: place, stdio: 'ignore' });
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=60', 'shared_buffers=16MB'];
  const start = (fileLimit = 'unlimited'): ChildProcess =>
    spawn(
      'sh',
      [
        ...['-c', `ulimit -f ${fileLimit} && exec "$0" "$@"`, join(folder ?? '', 'postgres')],
        ...['-D', data, '-k', place, ...settings.flatMap((setting) => ['-c', setting])],
      ],
      { ...user, cwd: place, stdio: 'ignore' },
    );
  let server = start();
  const end = (): void => void server.kill('SIGQUIT');
  process.once('exit', end);
  const url = `postgres://postgres@localhost/postgres?host=${place}`;
  await untilReady(url, server);
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  admin.on('error', () => {});
  let schemas = 0;
  return {
    async newSchema() {
      schemas += 1;
      const schema = `s${schemas}`;
      await admin.query(`CREATE SCHEMA ${schema}`);
      return `${url}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    },
    pool(connectionString, max) {
      const pool = new pg.Pool({ connectionString, max });
      pool.on('error', () => {});
      onTestFinished(() => pool.end());
      return pool;
    },
    async disconnectAll() {
      await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    },
    async crash({ isFull = false } = {}) {
      const ended = once(server, 'exit');
      end();
      await ended;
      server = start(isFull ? String(largestFileIn(data) / BLOCK) : undefined);
      await untilReady(url, server);
    },
    async stop() {
      await admin.end();
      process.removeListener('exit', end);
      const ended = once(server, 'exit');
      end();
      await ended;
      rmSync(place, { recursive: true, force: true });
    },
  };
}

/** The unit of `ulimit -f`, in bytes. */
const BLOCK = 512;

const largestFileIn = (folder: string): number =>
  Math.max(
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)).size),
  );

/** PostgreSQL refuses to run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function untilReady(connectionString: string, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`postgres has ended with the code ${server.exitCode}`);
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
