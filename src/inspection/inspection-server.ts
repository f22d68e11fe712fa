import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Run } from '../chain/runtime/run.ts';
import type { DurableMachineOptions } from '../durable/durable-machine.ts';
import type { JournalStore } from '../durable/journals/journal-store.ts';
import { hasMethod, invalidOption } from '../internal/options.ts';
import { isStandardSchema } from '../internal/standard-schema.ts';
import { servePage } from './page-session.ts';
import { builtFolder } from './pages.ts';
import {
  createRequestAuthorizer,
  isOwnOrigin,
  isRejection,
  notFound,
  pageHeaders,
  plainHeaders,
  type Rejection,
  type RequestAuthorizer,
} from './request-authorizer.ts';
import type { RunActions } from './run-actions.ts';
import { runList } from './runs.ts';
import { openSockets, type SocketEndpoint } from './sockets.ts';
import type { InspectedStore } from './stored-runs.ts';
import { actorContinuer } from './systems/continue-actors.ts';
import { describeMachines, hostsOf, type InspectedMachine } from './systems/inspected-machine.ts';
import type { Inspect } from './systems/observe-for-inspector.ts';
import type { ReplayHost } from './systems/recorded-states.ts';
import { inspectHere, systemsEndpoint } from './systems/systems-endpoint.ts';

export interface InspectionServer {
  /** The URL of the page. It contains a secret: anyone who knows it can read, continue and delete the runs, and send events to live ones. */
  readonly url: string;
  /**
   * Shows a system of XState actors of this process: pass it to XState's `inspect` option. `inspect.watch(actor)` shows one that is
   * already running. Both leave the actors and their machines unchanged and never throw.
   */
  readonly inspect: Inspect;
  /** The URL that `inspectTo` takes, to show XState actors of another process. It contains a secret. */
  readonly inspectUrl: string;
  /** Shows a run of this process from its start, even after it has ended. */
  watch(run: Run): void;
  /** Sets the run that pages open first, by id; by default the one watched last. */
  choose(runId: string): void;
  /** Closes the server. Watched runs continue. */
  close(): Promise<void>;
}

const MAX_PAGES = 16;
const MAX_MESSAGE_BYTES = 65_536;
/** Includes idle connections, so that the inspected program does not run out of file descriptors. */
const MAX_CONNECTIONS = 256;
/** How long a connection may take to send the headers of a request, and how often that is checked. */
const MAX_HEADERS_MS = 5_000;
const CHECK_MS = 1_000;
/** How long the start waits for the list of recordings. The rest follows while the page is open. */
const MAX_FIRST_LIST_MS = 200;

/**
 * Starts a server for the inspector, a web page, on the loopback interface. Rejects with `invalid_option` for invalid options, and if the port
 * is in use.
 */
export async function inspectionServer(options: InspectionOptions = {}): Promise<InspectionServer> {
  const { journals, machines, port, page, token, actions } = readInspectionOptions(options);
  const runs = runList(journals, hostsOf(machines), actions?.blocked);
  const described = await describeMachines(machines);
  const continuer = actorContinuer(runs);
  const server = createServer({ headersTimeout: MAX_HEADERS_MS, connectionsCheckingInterval: CHECK_MS });
  const connections = limitConnections(server, MAX_CONNECTIONS);
  await listen(server, port);
  const { port: actualPort } = server.address() as AddressInfo;
  const authorizer = createRequestAuthorizer(actualPort, connections.keep, token);
  const endpoints = new Map<string, SocketEndpoint>([
    [
      'socket',
      {
        maxMessageBytes: MAX_MESSAGE_BYTES,
        maxSockets: MAX_PAGES,
        allows: isOwnOrigin,
        accept: (socket) => servePage(socket, runs, actions, { machines, described, continuer }),
      },
    ],
    ['systems', systemsEndpoint(runs)],
  ]);
  const sockets = await openSockets(authorizer, endpoints);
  server.on('request', requestHandler(authorizer, pageFiles(page)));
  server.on('upgrade', sockets.upgrade);
  // The first page should have the complete list at once.
  await Promise.race([runs.refresh(), sleep(MAX_FIRST_LIST_MS, undefined, { ref: false })]);
  let closed: Promise<void> | null = null;
  return {
    url: `http://127.0.0.1:${actualPort}/${authorizer.token}/`,
    inspect: inspectHere(runs),
    inspectUrl: `ws://127.0.0.1:${actualPort}/${authorizer.token}/systems`,
    watch: (run) => runs.watch(run),
    choose: runs.choose,
    close() {
      closed ??= Promise.all([closeAll(server, sockets.close), continuer.stop()]).then(() => {});
      return closed;
    },
  };
}

interface ConnectionLimit {
  /** Keeps a connection open, whatever else connects. */
  keep(socket: Socket): void;
}

/**
 * Limits the open connections of a server. Any local program can connect, and stay silent; so each connection above the limit closes the
 * oldest one that is not kept, or itself if all are.
 */
function limitConnections(server: Server, most: number): ConnectionLimit {
  const strangers = new Set<Socket>();
  const kept = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => {
      strangers.delete(socket);
      kept.delete(socket);
    });
    const [oldest] = strangers;
    if (strangers.size + kept.size > most) oldest?.destroy();
  });
  return {
    keep(socket) {
      if (strangers.delete(socket)) kept.add(socket);
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Errors after the start, such as a failed accept, are ignored.
    server.on('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code ?? error.message})`;
      reject(
        new PostChainError('invalid_option', `port: ${port} ${why}; use another port, or 0 for any free one.`, {
          cause: error,
        }),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

async function closeAll(server: Server, closeSockets: () => Promise<void>): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  await closeSockets();
  server.closeAllConnections();
  await closed;
}

function requestHandler(authorizer: RequestAuthorizer, files: PageFiles) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const authorized = authorizer.authorize(request);
    if (isRejection(authorized)) reject(request, response, authorized);
    // Relative paths in the page need the trailing slash.
    else if (authorized.path === null) redirect(response, `/${authorizer.token}/`);
    else serve(await files.read(authorized.path), authorized.host, request, response);
  };
}

function serve(file: PageFile | Rejection, host: string, request: IncomingMessage, response: ServerResponse): void {
  if ('status' in file) reject(request, response, file);
  else {
    const { type, bytes } = file;
    response.writeHead(200, { ...pageHeaders(host), 'content-type': type, 'content-length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }
}

function reject(request: IncomingMessage, response: ServerResponse, { status, text }: Rejection): void {
  // Do not wait for a request body.
  response.shouldKeepAlive = request.method === 'GET' || request.method === 'HEAD';
  response.writeHead(status, {
    ...plainHeaders,
    'content-type': 'text/plain; charset=utf-8',
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : `${text}\n`);
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { ...plainHeaders, location });
  response.end();
}

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

interface PageFiles {
  /** Reads a file of the built page; an empty path is the page itself. */
  read(path: string): Promise<PageFile | Rejection>;
}

const HTML = 'text/html; charset=utf-8';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': HTML,
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

/** File names as the build makes them: nothing encoded, and no leading dot. */
const FILE_PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;

const notBuilt: Rejection = { status: 503, text: 'The inspector page is not built; run: npm run build' };

function pageFiles(folder: string): PageFiles {
  return {
    async read(path) {
      const name = path === '' ? 'index.html' : path;
      const type = CONTENT_TYPES[extname(name)];
      if (type === undefined || !FILE_PATH.test(name)) return notFound;
      try {
        return { type, bytes: await readFile(join(folder, name)) };
      } catch {
        return name === 'index.html' ? notBuilt : notFound;
      }
    },
  };
}

export interface InspectionOptions {
  /** The store whose runs and durable actors can be opened, in addition to watched runs. */
  readonly journals?: JournalStore | DurableMachineOptions['journals'] | undefined;
  /**
   * Results of `createDurableMachine`, or each as `{ host, events }` with a schema for each event, as for `createServer`. The actors in their
   * stores can be opened too, and pages send them events, answer their approvals, stop, fork and replay them. A replay without calls adds what
   * a journal does not contain: charts, contexts, child machines.
   */
  readonly hosts?: readonly (ReplayHost | InspectedMachine)[] | undefined;
  /** 0, the default, uses any free port. */
  readonly port?: number | undefined;
  /**
   * The secret in the address, 32 to 128 characters of base64url; by default a random one. With a fixed token and port, the address stays the
   * same. While no inspector uses the port, another program can take it, and then receives the token from an open page or a bookmark.
   */
  readonly token?: string | undefined;
  /** Resumes and forks recorded runs for the page; without it, the page can do neither. */
  readonly actions?: RunActions | undefined;
  /**
   * The directory of the page's files.
   * @internal
   */
  readonly page?: string | undefined;
}

const PORT_RANGE = 'expected an integer from 0 to 65535';

const EXPECTED_HOST = 'expected the result of createDurableMachine, or { host, events } with Standard Schemas';
const hostSchema = hasMethod<ReplayHost>('replaySteps', EXPECTED_HOST);
const eventsSchema = z.record(z.string(), z.custom<StandardSchemaV1>(isStandardSchema));

const optionsSchema = z.strictObject({
  journals: z._default(
    z.nullable(hasMethod<InspectedStore>('list', 'expected a journal store, for example fileJournals("runs")')),
    null,
  ),
  hosts: z._default(
    z.array(
      z.union([hostSchema, z.looseObject({ host: hostSchema, events: z.optional(eventsSchema) })], EXPECTED_HOST),
      'expected an array',
    ),
    [],
  ),
  actions: z._default(
    z.nullable(hasMethod<RunActions>('fork', 'expected an object with the methods resume and fork')),
    null,
  ),
  port: z._default(z.int(PORT_RANGE).check(z.gte(0, PORT_RANGE), z.lte(65_535, PORT_RANGE)), 0),
  token: z.optional(z.string().check(z.regex(/^[\w-]{32,128}$/u, 'expected 32 to 128 characters of base64url'))),
  page: z.optional(z.string('expected a directory')),
});

interface InspectionSettings {
  readonly journals: InspectedStore | null;
  readonly machines: readonly InspectedMachine[];
  readonly port: number;
  readonly token?: string | undefined;
  readonly actions: RunActions | null;
  readonly page: string;
}

function readInspectionOptions(options: InspectionOptions): InspectionSettings {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('inspectionServer', options, read.error, optionsSchema);
  const { hosts, page = builtFolder('inspector'), ...rest } = read.data;
  return { ...rest, page, machines: hosts.map((given) => ('host' in given ? given : { host: given })) };
}
