import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Stream,
} from 'node:http2';
import { type AddressInfo, connect as connectSocket } from 'node:net';
import { arch, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@restatedev/restate-sdk-clients';
import type { JournalPage, RestateChain } from '../../src/entries/restate.ts';
import { freePort } from './servers.ts';

/** Where `npm run restate:install` puts the server, and where the services under test are built: nothing of it is committed. */
const HOME = join('node_modules', '.restate');
export const builtServices = join(HOME, 'services');
export const serverBinary = join(
  HOME,
  'node_modules',
  '@restatedev',
  `restate-server-${platform()}-${arch()}`,
  'bin',
  'restate-server',
);

interface Child {
  readonly pid: number;
  /** What it printed, for a message where it fails. */
  output(): string;
  /** Ends it at once, in the middle of whatever it does. */
  kill(): Promise<void>;
}

const living = new Set<ChildProcess>();
// Whatever becomes of the tests, no process outlives them.
process.once('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Starts a process and waits until `isReady` says so. Of the environment it gets what it is given, and where programs are. */
async function startChild(
  command: string,
  args: readonly string[],
  { env, isReady }: { readonly env: Record<string, string>; readonly isReady: () => Promise<boolean> },
): Promise<Child> {
  const child = spawn(command, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  living.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const exited = once(child, 'exit').then(() => living.delete(child));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended:\n${output}`);
    return isReady();
  }).catch(async (error: unknown) => {
    await kill();
    throw new Error(`${command} did not start:\n${output}`, { cause: error });
  });
  return { pid: child.pid ?? 0, output: () => output, kill };
}

/** Looks again and again; throws where it never is. */
export async function waitUntil(isSo: () => boolean | Promise<boolean>, forMs = 90_000): Promise<void> {
  const untilMs = Date.now() + forMs;
  while (!(await isSo())) {
    if (Date.now() > untilMs) throw new Error(`it was not so within ${forMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export interface RestateServer {
  /** Where runs are started and asked. */
  readonly ingress: string;
  readonly admin: string;
  /** Makes a service known. Throws where the server cannot reach it. */
  register(uri: string): Promise<void>;
  kill(): Promise<void>;
  /** Starts it again with what it had written. */
  restart(): Promise<void>;
  /** Ends it, and removes what it wrote. */
  stop(): Promise<void>;
}

/** The real server on free ports of the loopback address, with a folder of its own, sending nothing to anybody. */
export async function startRestate(): Promise<RestateServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-restate-'));
  const [fabric, ingressPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const admin = `http://127.0.0.1:${adminPort}`;
  const env = {
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_ADVERTISED_HOST: '127.0.0.1',
    RESTATE_BIND_PORT: `${fabric}`,
    RESTATE_INGRESS__BIND_PORT: `${ingressPort}`,
    RESTATE_ADMIN__BIND_PORT: `${adminPort}`,
    RESTATE_ADMIN__DISABLE_WEB_UI: 'true',
    RESTATE_DEFAULT_NUM_PARTITIONS: '2',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '64MiB',
    // A process that was killed is asked again soon.
    RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL: '50ms',
    RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL: '500ms',
  };
  const start = (): Promise<Child> =>
    startChild(serverBinary, ['--base-dir', folder, '--node-name', 'test', '--no-logo'], {
      env,
      isReady: async () => (await isOk(`${admin}/health`)) && (await isOk(`${ingress}/restate/health`)),
    });
  let child = await start();
  return {
    ingress,
    admin,
    async register(uri) {
      const answer = await fetch(`${admin}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri }),
      });
      if (!answer.ok) throw new Error(`${uri} was not registered: ${await answer.text()}`);
    },
    kill: () => child.kill(),
    async restart() {
      child = await start();
    },
    async stop() {
      await child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/** Talks to a run, whether it has begun or not. */
export function runClient({ ingress }: RestateServer, key: string, name = 'chain') {
  return connect({ url: ingress }).workflowClient<RestateChain>({ name } as RestateChain, key);
}

/** All that a run has written, page by page. */
export async function journalOf(run: ReturnType<typeof runClient>): Promise<JournalPage['entries']> {
  const entries: JournalPage['entries'][number][] = [];
  for (;;) {
    const page = await run.journal({ from: entries.length });
    entries.push(...page.entries);
    if (page.entries.length === 0) return entries;
  }
}

/** The id of the question that a run waits on. */
export async function questionOf(run: ReturnType<typeof runClient>): Promise<string> {
  return (await run.status())?.asks?.questionId ?? '';
}

export interface RoundRobin {
  readonly uri: string;
  stop(): Promise<void>;
}

/**
 * A balancer as it stands before several processes of one service: each request goes to the next one. It balances requests and not
 * connections, since Restate sends many requests over one. Where a process is gone, its requests break off, and Restate asks again.
 */
export async function startRoundRobin(uris: readonly string[]): Promise<RoundRobin> {
  const sessions = new Map<string, ClientHttp2Session>();
  let turn = 0;

  function sessionOf(uri: string): ClientHttp2Session {
    const known = sessions.get(uri);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connectHttp2(uri);
    session.on('error', () => {});
    sessions.set(uri, session);
    return session;
  }

  const server = createHttp2Server();
  server.on('stream', (incoming: ServerHttp2Stream, headers) => {
    const uri = uris[turn % uris.length] ?? '';
    turn += 1;
    const outgoing = sessionOf(uri).request(headers);
    const breakOff = (): void => {
      incoming.close(constants.NGHTTP2_CANCEL);
      outgoing.close(constants.NGHTTP2_CANCEL);
    };
    outgoing.once('response', (answer) => {
      if (!incoming.destroyed) incoming.respond(answer);
    });
    incoming.on('error', breakOff).once('aborted', breakOff);
    outgoing.on('error', breakOff).once('aborted', breakOff);
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const session of sessions.values()) session.destroy();
      server.close();
    },
  };
}

/** A line of what the models of all service processes wrote down. */
interface CallLine {
  readonly pid: number;
  readonly what: 'begun' | 'ended' | 'aborted';
  readonly run: string;
  readonly task: string;
}

/** Where the service processes of a test meet: what their models did, and what they are to wait for. */
export interface ModelControl {
  readonly folder: string;
  calls(run: string): readonly CallLine[];
  /** From here on each call of the task waits until it is let go. */
  hold(task: string): void;
  release(task: string): void;
  remove(): Promise<void>;
}

export async function createModelControl(): Promise<ModelControl> {
  const folder = await mkdtemp(join(tmpdir(), 'postchain-service-'));
  const log = join(folder, 'calls.log');
  return {
    folder,
    calls: (run) =>
      (existsSync(log) ? readFileSync(log, 'utf8').split('\n') : [])
        // The last line may be incomplete.
        .slice(0, -1)
        .map((line) => JSON.parse(line) as CallLine)
        .filter((line) => line.run === run),
    hold: (task) => writeFileSync(join(folder, `hold-${task}`), ''),
    release: (task) => rmSync(join(folder, `hold-${task}`), { force: true }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface ServiceProcess {
  readonly uri: string;
  readonly pid: () => number;
  readonly output: () => string;
  kill(): Promise<void>;
  restart(): Promise<void>;
}

/** A process that serves chains: `rig` those of rig/service.ts, `example` that of examples/restate. */
export async function startService(name: 'rig' | 'example', meeting?: ModelControl): Promise<ServiceProcess> {
  const port = await freePort();
  const start = (): Promise<Child> =>
    startChild(process.execPath, [join(builtServices, `${name}.mjs`)], {
      env: { PORT: `${port}`, RESTATE_LOGGING: 'ERROR', MEETING: meeting?.folder ?? '' },
      isReady: () => isListening(port),
    });
  let child = await start();
  return {
    uri: `http://127.0.0.1:${port}`,
    pid: () => child.pid,
    output: () => child.output(),
    kill: () => child.kill(),
    async restart() {
      child = await start();
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
