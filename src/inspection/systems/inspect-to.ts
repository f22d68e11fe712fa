import { importByName } from '../../internal/optional-package.ts';
import type { SystemMessage } from './messages.ts';
import { type Inspect, observeForInspector, warn } from './observe-for-inspector.ts';

/** A function for XState's `inspect` option. */
export interface InspectTo extends Inspect {
  /** Closes the connection and stops observing. The actors continue. */
  close(): void;
}

/** The part of the native WebSocket, and of the one of `ws`, that is used here. */
interface Socket {
  readonly bufferedAmount: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error' | 'close', listener: (event: unknown) => void): void;
}

/**
 * Shows the XState actors of this process in an inspector of another one: `createActor(machine, { inspect: inspectTo(url) })`. `url` is the
 * `inspectUrl` of its server, which `postchain inspect` prints. It never throws: if the connection fails, a process warning is emitted once
 * and nothing more is sent. The connection is open while an observed system is running.
 */
export function inspectTo(url: string | URL): InspectTo {
  const live = new Set<string>();
  let connection: Connection | null = null;
  let isClosed = false;

  function close(): void {
    isClosed = true;
    connection?.end();
    connection = null;
  }

  function fail(why: string): void {
    if (isClosed) return;
    close();
    warn(`Cannot show the actors in the inspector at ${hostOf(url)}: ${why}.`);
  }

  function send(message: SystemMessage): void {
    if (isClosed) return;
    live.add(message.system);
    connection ??= openConnection(String(url), fail);
    connection.send(JSON.stringify(message));
    if (message.type !== 'closed') return;
    live.delete(message.system);
    if (live.size > 0) return;
    connection?.end();
    connection = null;
  }

  return Object.assign(observeForInspector(send), { close });
}

interface Connection {
  /** Sends a text, once the connection is open. */
  send(text: string): void;
  /** Closes the connection when everything is sent. */
  end(): void;
}

/** The connection is closed if more text than this is unsent, to bound the memory of the observed program. */
const MAX_UNSENT_CHARS = 64_000_000;

/** `failed` is called at most once, and not after `end()`. */
function openConnection(url: string, failed: (why: string) => void): Connection {
  let waiting: string[] = [];
  let waitingChars = 0;
  let socket: Socket | null = null;
  let isEnding = false;

  function fail(why: string): void {
    if (isEnding) return;
    isEnding = true;
    failed(why);
  }

  async function connect(): Promise<void> {
    const opening = await createSocket(url);
    opening.addEventListener('error', (event) => fail((event as { message?: string }).message || 'no connection'));
    opening.addEventListener('close', () => fail('it closed the connection'));
    opening.addEventListener('open', () => {
      socket = opening;
      for (const text of waiting) opening.send(text);
      waiting = [];
      if (isEnding) opening.close();
    });
  }

  connect().catch((error: Error) => fail(error.message));
  return {
    send(text) {
      if (socket === null) {
        waiting.push(text);
        waitingChars += text.length;
      } else socket.send(text);
      if ((socket?.bufferedAmount ?? waitingChars) > MAX_UNSENT_CHARS) fail('it reads too slowly');
    },
    end() {
      isEnding = true;
      socket?.close();
    },
  };
}

/** Uses the native WebSocket if there is one; Node 20 has none. */
async function createSocket(url: string): Promise<Socket> {
  const { WebSocket: Native } = globalThis as { readonly WebSocket?: new (url: string) => unknown };
  const create = Native ?? (await importByName<typeof import('ws')>('ws')).WebSocket;
  return new create(url) as Socket;
}

/** The path contains the token. */
const hostOf = (url: string | URL): string => (URL.canParse(String(url)) ? new URL(url).host : 'an invalid URL');
