import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { temporaryFolder } from '../temporary-folder.mjs';

const DEBIAN = '/usr/lib/postgresql';

/** Everything else has PostgreSQL's defaults: in particular, each commit waits for the disk. */
const SETTINGS = ['listen_addresses=127.0.0.1', 'max_connections=400', 'shared_buffers=512MB', 'max_wal_size=8GB'];

/** Returns the folder of the programs `initdb` and `postgres`; undefined if they are not installed. */
export const postgresFolder = () =>
  [
    ...(existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : []),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ].find((path) => ['initdb', 'postgres'].every((name) => existsSync(join(path, name))));

/**
 * Starts a PostgreSQL server on a free port of the loopback interface.
 *
 * @param {string} folder The folder of its programs.
 */
export async function startPostgres(folder) {
  const place = temporaryFolder();
  const data = join(place, 'data');
  const port = await freePort();
  const user = serverUser();
  if (user !== null) chownSync(place, user.uid, user.gid);
  chmodSync(place, 0o700);
  const auth = ['--username=postgres', '--auth=trust', '--no-sync', '--encoding=UTF8', '--locale=C'];
  execFileSync(join(folder, 'initdb'), ['-D', data, ...auth], { ...user, cwd: place, stdio: 'ignore' });
  const settings = [...SETTINGS, `port=${port}`, `unix_socket_directories=${place}`];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(folder, 'postgres'), args, { ...user, cwd: place, stdio: 'ignore' });
  const end = () => void server.kill('SIGQUIT');
  process.once('exit', end);
  const urlOf = (/** @type {string} */ database) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const admin = new pg.Pool({ connectionString: urlOf('postgres'), max: 1 });
  // Dropping the database, or stopping the server, may end the connection first.
  admin.on('error', () => {});
  for (let tries = 0; ; tries += 1) {
    if (server.exitCode !== null) throw new Error(`postgres has ended with the code ${server.exitCode}`);
    try {
      await admin.query('SELECT');
      break;
    } catch (error) {
      if (tries > 300) throw error;
      await wait(100);
    }
  }
  const { rows } = await admin.query('SHOW server_version');
  return {
    version: String(rows[0].server_version),
    /** @param {string} name */
    async createDatabase(name) {
      await admin.query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
    /** @param {string} name */
    dropDatabase: (name) => admin.query(`DROP DATABASE ${name} WITH (FORCE)`),
    async stop() {
      await admin.end();
      process.removeListener('exit', end);
      const ended = once(server, 'exit');
      end();
      await ended;
    },
  };
}

/** PostgreSQL refuses to run as root. */
function serverUser() {
  if (process.getuid?.() !== 0) return null;
  const id = (/** @type {string} */ flag) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  return port;
}
