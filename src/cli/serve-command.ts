import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PostChainError } from '../../machines/contracts/error.ts';
import { loadOptional } from '../internal/optional-package.ts';
import { firstLineOf, oneLine, printableJson } from '../internal/printable.ts';
import { createServer, type ServerLogLine } from '../server/create-server.ts';
import { bearerTokens, type Owner } from '../server/owners.ts';
import { durableMachines, type ModuleFlags, type ModuleMachine, moduleMachines } from './durable-modules.ts';
import { homePath } from './home.ts';
import { openJournals } from './open-journals.ts';
import { prepareRun, type RunFlags } from './prepare-run.ts';
import { untilStopped } from './until-stopped.ts';

export interface ServeFlags extends RunFlags, Pick<ModuleFlags, 'module'> {
  readonly port: number;
  readonly host: string;
  readonly allowHost?: readonly string[];
  readonly origin?: readonly string[];
  /** Modules whose durable machines are served as agents. */
  readonly agents?: readonly string[];
  readonly token?: string;
  readonly log: 'text' | 'json';
}

/** How long the runs may take to close, in milliseconds. */
const CLOSE_MS = 10_000;
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];

/** Serves a chain, and the durable machines of modules by their ids, until Ctrl-C or SIGTERM, and then closes the runs, so that the next start continues them. */
export async function serveCommand(
  flags: ServeFlags,
  { stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'> = process,
): Promise<void> {
  const { port, host, allowHost = [], origin = [] } = flags;
  const given = givenTokens(flags.token, process.env['POSTCHAIN_TOKENS']);
  const isLoopback = LOOPBACK.includes(host);
  if (!isLoopback && (given === null || allowHost.length === 0))
    throw new PostChainError(
      'invalid_option',
      `--host ${oneLine(host)} lets other machines connect: set POSTCHAIN_TOKENS to token=owner,… and --allow-host to the public name of the server`,
    );
  const { createAdaptorServer } = await loadOptional(
    '@hono/node-server',
    'postchain serve',
    () => import('@hono/node-server'),
  );
  // Other than the default of the other commands, because the server continues the runs that it finds.
  const place = flags.journals ?? (process.env['POSTCHAIN_JOURNALS'] || homePath('served'));
  const machines = byId(
    '--module',
    (await durableMachines(flags)).map((host) => ({ host })),
  );
  const agents = byId('--agents', await moduleMachines({ module: flags.agents ?? [] }));
  const random = randomBytes(32).toString('base64url');
  const prepared = await prepareRun(flags, openJournals({ journals: place }));
  try {
    const server = await createServer({
      chain: prepared.chain,
      machines,
      agents,
      authorize: bearerTokens(given ?? { [random]: LOCAL }),
      allowedHosts: allowHost,
      allowedOrigins: origin.map(originOf),
      onLog: (line) => void stdout.write(`${flags.log === 'json' ? jsonOf(line) : textOf(line)}\n`),
    });
    const http = createAdaptorServer({ fetch: server.fetch }) as HttpServer;
    try {
      const actual = await listen(http, port, host);
      const name = isLoopback ? host.replace(/^.*:.*$/u, '[$&]') : allowHost[0];
      const url = `http://${name}:${actual}`;
      const [agent] = Object.keys(agents);
      // The notes describe the chain, not the agents.
      if (agent === undefined) for (const note of prepared.notes) stderr.write(`${note}\n`);
      stderr.write(`Server: ${url}\n`);
      stderr.write(`${exampleOf(url, given === null ? random : '$TOKEN', agent)}\n`);
      for (const id of Object.keys(agents)) stderr.write(`Agent: ${id}; OpenAI clients: ${url}/v1, model ${id}\n`);
      for (const id of Object.keys(machines)) stderr.write(`Machine: ${url}/machines/${id}\n`);
      stderr.write('Press Ctrl-C to stop the server.\n');
      await untilStopped();
    } finally {
      setTimeout(() => process.exit(1), CLOSE_MS).unref();
      http.close();
      await server.close();
      http.closeAllConnections();
    }
  } finally {
    await prepared.close();
  }
}

/** Returns the machines by their ids, which are their paths. Throws `invalid_option` if two of them have the same one. */
function byId<One extends Pick<ModuleMachine, 'host'>>(
  flag: string,
  all: readonly One[],
): Readonly<Record<string, One>> {
  const machines = Object.fromEntries(all.map((one) => [one.host.machineId, one]));
  const other = all.find((one) => machines[one.host.machineId] !== one);
  if (other === undefined) return machines;
  const received = `received two with the id ${JSON.stringify(oneLine(other.host.machineId))}`;
  throw new PostChainError('invalid_option', `${flag}: expected machines with different ids; ${received}`);
}

/** Returns the origin of a URL as browsers send it. For some schemes, `URL` returns "null", which is also the origin of any sandboxed page. */
function originOf(text: string): string {
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: 'null' };
  return origin === 'null' ? text.replace(/\/+$/u, '') : origin;
}

/** The owner of the runs if there is only one token. It stays the same if the token changes. */
const LOCAL: Owner = 'local';
const MIN_TOKEN_CHARS = 16;

/** Returns the owners of the tokens; null if there are none. Error messages never contain a token. */
function givenTokens(token: string | undefined, variable: string | undefined): Readonly<Record<string, Owner>> | null {
  const pairs = (variable ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .map((pair) => {
      // The Base64 of a token may end in "=".
      const [, name = '', owner = ''] = /^(.*)=([^=]+)$/u.exec(pair.trim()) ?? [];
      return [name, owner] as const;
    });
  if (token !== undefined) pairs.push([token, LOCAL]);
  const names = new Set(pairs.map(([name]) => name));
  if (
    names.size < pairs.length ||
    pairs.some(([name, owner]) => !/^\S+$/u.test(name) || name.length < MIN_TOKEN_CHARS || owner === '')
  )
    throw new PostChainError(
      'invalid_option',
      `--token and POSTCHAIN_TOKENS (token=owner,…): expected unique tokens of at least ${MIN_TOKEN_CHARS} characters without spaces, each in POSTCHAIN_TOKENS with an owner; create one with: openssl rand -hex 32`,
    );
  return pairs.length === 0 ? null : Object.fromEntries(pairs);
}

/** Starts listening and returns the port. */
async function listen(http: HttpServer, port: number, host: string): Promise<number> {
  http.listen(port, host);
  try {
    await once(http, 'listening');
    return (http.address() as AddressInfo).port;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`;
    const message = `--port: port ${port} on ${oneLine(host)} ${why}; pass another port, or 0 for a free one`;
    throw new PostChainError('invalid_option', message, { cause });
  }
}

const exampleOf = (url: string, token: string, agent: string | undefined): string =>
  [
    `curl -N ${url}/runs`,
    `-H "Authorization: Bearer ${token}"`,
    `-H 'Content-Type: application/json' -H 'Accept: text/event-stream'`,
    `-d '${JSON.stringify({ request: 'What is this about?', agent })}'`,
  ].join(' ');

const problemOf = ({ error }: ServerLogLine): { readonly error?: string } =>
  error === undefined ? {} : { error: oneLine(firstLineOf(error)) };

const jsonOf = (line: ServerLogLine): string =>
  printableJson(JSON.stringify({ time: new Date().toISOString(), ...line, ...problemOf(line) }));

const textOf = (line: ServerLogLine): string =>
  oneLine(
    [
      line.method,
      line.path,
      line.status,
      `${line.durationMs} ms`,
      line.owner ?? '(no owner)',
      ...Object.values(problemOf(line)),
    ].join(' '),
  );
