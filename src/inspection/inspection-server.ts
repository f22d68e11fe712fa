import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Run } from '../engine/runtime/run.ts';
import { type InspectionOptions, readOptions } from './options.ts';
import { pageHeaders, plainHeaders } from './page-headers.ts';
import { servePage } from './page-session.ts';
import {
  createRequestAuthorizer,
  isOwnOrigin,
  isRefusal,
  nothingHere,
  type Refusal,
  type RequestAuthorizer,
} from './request-authorizer.ts';
import { runList } from './runs.ts';
import { openSockets, type SocketPlace } from './sockets.ts';
import { statelyPlace } from './stately-place.ts';

export interface InspectionServer {
  /** Of the page. Who knows it can see the runs and tell them things: there is a secret in it. */
  readonly url: string;
  /** Where other programs of XState tell what happens in them: a WebSocket in the protocol of Stately's inspector. */
  readonly statelyUrl: string;
  /** Shows a run of this process from its beginning, and when it is over. */
  watch(run: Run): void;
  /** Which run a page opens first, by its id; by itself the one that was watched last. */
  choose(runId: string): void;
  /** Runs that are watched go on. */
  close(): Promise<void>;
}

const MAX_PAGES = 16;
const MAX_MESSAGE_BYTES = 65_536;
/** Of all kinds, those that say nothing among them: the program that is inspected has files of its own to open. */
const MAX_CONNECTIONS = 256;
/** A store that takes longer to tell what it has tells the pages later. */
const MAX_FIRST_LOOK_MS = 2_000;

/**
 * Serves the inspector, a web page, to this machine only. Rejects with `invalid_option` for options that make no sense, and for a port that
 * is in use.
 */
export async function inspectionServer(options: InspectionOptions = {}): Promise<InspectionServer> {
  const { journals, port, page } = readOptions(options);
  const runs = runList(journals);
  const server = createServer();
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, port);
  const { port: given } = server.address() as AddressInfo;
  const door = createRequestAuthorizer(given);
  const places = new Map<string, SocketPlace>([
    [
      'socket',
      {
        maxMessageBytes: MAX_MESSAGE_BYTES,
        maxSockets: MAX_PAGES,
        allows: isOwnOrigin,
        accept: (socket) => servePage(socket, runs),
      },
    ],
    ['stately', statelyPlace(runs)],
  ]);
  const sockets = openSockets(door, places);
  server.on('request', answerWith(door, pageFiles(page)));
  server.on('upgrade', sockets.upgrade);
  // So the first page knows all runs at once.
  await within(MAX_FIRST_LOOK_MS, runs.refresh());
  let closed: Promise<void> | null = null;
  return {
    url: `http://127.0.0.1:${given}/${door.token}/`,
    statelyUrl: `ws://127.0.0.1:${given}/${door.token}/stately`,
    watch: runs.watch,
    choose: runs.choose,
    close() {
      closed ??= closeAll(server, sockets.close);
      return closed;
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Later ones, of a connection that cannot be accepted, end nothing.
    server.on('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code ?? error.message})`;
      reject(
        new PostChainError(
          'invalid_option',
          `port: got ${port}, which ${why}; give another one, or 0 for any that is free.`,
          {
            cause: error,
          },
        ),
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Waits no longer than that. */
async function within(ms: number, look: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([look, late]);
  clearTimeout(timer);
}

async function closeAll(server: Server, closeSockets: () => Promise<void>): Promise<void> {
  const isClosed = new Promise<void>((resolve) => server.close(() => resolve()));
  await closeSockets();
  server.closeAllConnections();
  await isClosed;
}

/** Answers requests with the files of the page. */
function answerWith(door: RequestAuthorizer, files: PageFiles) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const admission = door.admit(request);
    if (isRefusal(admission)) refuse(request, response, admission);
    // The paths in the page are relative: they begin under the token.
    else if (admission.path === null) redirect(response, `/${door.token}/`);
    else give(await files.read(admission.path), admission.host, request, response);
  };
}

function give(file: PageFile | Refusal, host: string, request: IncomingMessage, response: ServerResponse): void {
  if ('status' in file) refuse(request, response, file);
  else {
    const { type, bytes } = file;
    response.writeHead(200, { ...pageHeaders(host), 'content-type': type, 'content-length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, { status, text }: Refusal): void {
  // What is still being sent is not waited for.
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

/** The files of the built page. */
interface PageFiles {
  /** By its path, as the request has it; empty: the page itself. */
  read(path: string): Promise<PageFile | Refusal>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
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

/** Names as a build makes them: nothing encoded, and none that begins with a dot. */
const PATH = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/u;

const notBuilt: Refusal = { status: 503, text: 'The page of the inspector is not built: npm run build makes it.' };

function pageFiles(folder: string): PageFiles {
  return {
    async read(path) {
      const name = path === '' ? 'index.html' : path;
      const type = TYPES[extname(name)];
      if (type === undefined || !PATH.test(name)) return nothingHere;
      try {
        return { type, bytes: await readFile(join(folder, name)) };
      } catch {
        return name === 'index.html' ? notBuilt : nothingHere;
      }
    },
  };
}
