import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { Run } from '../engine/runtime/run.ts';
import { answerWith } from './http-answers.ts';
import { type InspectionOptions, readOptions } from './options.ts';
import { pageFiles } from './page-files.ts';
import { servePage } from './page-session.ts';
import { createRequestAuthorizer, isOwnOrigin } from './request-authorizer.ts';
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
