import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { type StateAfter, stateHistory, watchStates } from '../../chain/journal/state-at.ts';
import type { Run } from '../../chain/runtime/run.ts';
import { importByName } from '../../internal/optional-package.ts';
import { journalMessages, type StatelyMessage } from './journal-messages.ts';

/** A live run, or the entries of a recorded one. The states of the chart are sent for a live run and for an array. */
export type BridgedRun =
  | Pick<Run, 'events' | 'journal' | 'actor'>
  | Iterable<JournalEntry>
  | AsyncIterable<JournalEntry>;

export interface StatelyBridge {
  /** Stops sending. */
  close(): void;
  /**
   * Resolves when the run has ended and everything is sent, or after `close()`. Rejects with an error that `to` throws, with
   * `invalid_option` if the connection fails, and with `invalid_journal` if a recording cannot be read. The run is never affected.
   */
  readonly done: Promise<void>;
}

/**
 * Sends a run of a chain to Stately's inspector or a compatible one. `to` is the URL of a WebSocket, such as that of
 * `createInspectorServer` in `@statelyai/inspect/server`, or a function that receives each message.
 */
export function statelyBridge(run: BridgedRun, to: string | URL | ((message: StatelyMessage) => void)): StatelyBridge {
  let isClosed = false;
  let close = (): void => {};
  const closed = new Promise<void>((resolve) => {
    close = () => {
      isClosed = true;
      resolve();
    };
  });
  const pump = async (send: (message: StatelyMessage) => Promise<void> | void): Promise<void> => {
    const states = new Map<number, unknown>();
    const messagesOf = journalMessages((seq) => states.get(seq));
    const add = ({ seq, state }: StateAfter): void => void states.set(seq, state);
    if ('events' in run) watchStates(run, add);
    else if (Array.isArray(run)) stateHistory(run).states.forEach(add);
    const events = 'events' in run ? run.events : run;
    for await (const entry of events) {
      if (isClosed) return;
      if (entry.type !== 'partial') for (const message of messagesOf(entry)) await send(message);
    }
  };
  const pumpInto = async (url: string): Promise<void> => {
    const socket = await openInspectorSocket(url);
    try {
      const sent = pump((message) => socket.send(JSON.stringify(message)));
      await Promise.race([sent, socket.broken, closed]);
    } finally {
      isClosed = true;
      await socket.close();
    }
  };
  const done =
    typeof to === 'function' ? Promise.race([pump(to), closed]) : Promise.race([pumpInto(String(to)), closed]);
  // Callers need not wait for it.
  done.catch(() => {});
  return { close, done };
}

/** The members used of a native WebSocket or one of `ws`. */
interface Socket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error' | 'close', listener: (event: unknown) => void): void;
}

/** An open connection. `broken` rejects if the other side ends it. */
interface InspectorSocket {
  readonly broken: Promise<never>;
  /** Waits while too much data is buffered. */
  send(text: string): Promise<void>;
  /** Resolves when everything is sent and the connection is closed. */
  close(): Promise<void>;
}

const MAX_BUFFERED_BYTES = 4_000_000;
const DRAIN_MS = 20;
const OPEN = 1;

async function openInspectorSocket(url: string): Promise<InspectorSocket> {
  const socket = await createSocket(url);
  let closing = false;
  let resolveClosed = (): void => {};
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  const broken = new Promise<never>((_, reject) => {
    const fail = (why: string): void => {
      resolveClosed();
      if (!closing) reject(unreachable(url, why));
    };
    socket.addEventListener('error', (event) => fail(messageOf(event)));
    socket.addEventListener('close', () => fail('the inspector closed the connection'));
  });
  // Nothing awaits it once the bridge is closed: prevent an unhandled rejection.
  broken.catch(() => {});
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  await Promise.race([opened, broken]);
  return {
    broken,
    async send(text) {
      while (socket.readyState === OPEN && socket.bufferedAmount > MAX_BUFFERED_BYTES)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_MS));
      if (socket.readyState === OPEN) socket.send(text);
    },
    close() {
      closing = true;
      socket.close();
      return closed;
    },
  };
}

/** Uses the native WebSocket if there is one; Node 20 has none. */
async function createSocket(url: string): Promise<Socket> {
  const { WebSocket: Native } = globalThis as { readonly WebSocket?: new (url: string) => unknown };
  const create = Native ?? (await importByName<typeof import('ws')>('ws')).WebSocket;
  try {
    return new create(url) as Socket;
  } catch (error) {
    throw unreachable(url, (error as Error).message);
  }
}

const messageOf = (event: unknown): string => (event as { message?: string }).message || 'the connection failed';

function unreachable(url: string, why: string): PostChainError {
  const message = `Cannot reach an inspector at ${withoutSecrets(url)}: ${why}; expected the URL of a WebSocket that accepts the messages of Stately's inspector`;
  return new PostChainError('invalid_option', message);
}

/** Returns protocol and host only: credentials and paths may contain secrets. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
