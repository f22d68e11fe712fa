import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Run } from '../../engine/runtime/run.ts';
import { journalMessages, type StatelyMessage } from './journal-messages.ts';

/** A run under way, or the entries of one that was recorded. */
export type BridgedRun = Pick<Run, 'events'> | Iterable<JournalEntry> | AsyncIterable<JournalEntry>;

export interface StatelyBridge {
  /** Nothing more is sent. */
  close(): void;
  /**
   * Resolves when the run has ended and all of it is sent, or after `close()`. Rejects with what `to` threw, with `invalid_option` where
   * there is no connection or it breaks, and with `invalid_journal` where a recording cannot be read. The run never notices.
   */
  readonly done: Promise<void>;
}

/**
 * Shows a run of a chain in Stately's inspector, or in any that takes its messages: `to` is the URL of a WebSocket, as
 * `createInspectorServer` of `@statelyai/inspect/server` opens one, or a function that is given each message.
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
    const messagesOf = journalMessages();
    for await (const entry of 'events' in run ? run.events : run) {
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
  // Nobody has to wait for it.
  done.catch(() => {});
  return { close, done };
}

/** What a WebSocket of the platform and one of `ws` have in common, as far as it is used. */
interface Socket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(): void;
  addEventListener(type: 'open' | 'error' | 'close', listener: (event: unknown) => void): void;
}

/** A connection that is open; `broken` rejects where it ends before it is closed here. */
interface InspectorSocket {
  readonly broken: Promise<never>;
  /** Waits while much of what was sent before is not yet gone. */
  send(text: string): Promise<void>;
  /** Resolves when all is sent and the connection is closed. */
  close(): Promise<void>;
}

const MAX_BUFFERED = 4_000_000;
const DRAIN_MS = 20;
const OPEN = 1;

async function openInspectorSocket(url: string): Promise<InspectorSocket> {
  const socket = await createSocket(url);
  let closing = false;
  let shut = (): void => {};
  const closed = new Promise<void>((resolve) => {
    shut = resolve;
  });
  const broken = new Promise<never>((_, reject) => {
    const fail = (why: string): void => {
      shut();
      if (!closing) reject(unreachable(url, why));
    };
    socket.addEventListener('error', (event) => fail(messageOf(event)));
    socket.addEventListener('close', () => fail('it closed the connection'));
  });
  // Whoever sends is told; one that is closed before that happens has nobody who asks.
  broken.catch(() => {});
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  await Promise.race([opened, broken]);
  return {
    broken,
    async send(text) {
      while (socket.readyState === OPEN && socket.bufferedAmount > MAX_BUFFERED)
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

/** The platform's own where there is one; Node 20 has none. */
async function createSocket(url: string): Promise<Socket> {
  const { WebSocket: Native } = globalThis as { readonly WebSocket?: new (url: string) => unknown };
  const create = Native ?? (await import('ws')).WebSocket;
  try {
    return new create(url) as Socket;
  } catch (error) {
    throw unreachable(url, (error as Error).message);
  }
}

const messageOf = (event: unknown): string => (event as { message?: string }).message || 'the connection failed';

function unreachable(url: string, why: string): PostChainError {
  const message = `No inspector at ${shown(url)}: got "${why}"; wanted a WebSocket that takes the messages of Stately's inspector.`;
  return new PostChainError('invalid_option', message);
}

/** Passwords and tokens stand behind the host and before it. */
function shown(url: string): string {
  if (!URL.canParse(url)) return url;
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
