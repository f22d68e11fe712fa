import type { WebSocket } from 'ws';
import type { ServerMessage } from './wire.ts';

/** More than this on its way to a page, and what can wait waits. */
const MAX_UNSENT_BYTES = 4_194_304;

/** After so much, others have their turn. */
const MUCH_CHARS = 131_072;

/** The server's side of the socket of a page. */
export interface Channel {
  say(message: ServerMessage, lines?: readonly string[]): void;
  /** The text of a message. */
  saySo(text: string): void;
  /** Resolves when there is room for more, and when the page has gone: in a later turn of the loop where much was said in this one. */
  room(): Promise<void>;
  readonly isOpen: boolean;
  /** There is no room. */
  readonly isFull: boolean;
}

export function channelTo(socket: WebSocket): Channel {
  const waiting = new Set<() => void>();
  /** Characters in this turn of the loop. */
  let said = 0;
  /** A page that is about to go takes nothing more. */
  const isFull = (): boolean =>
    socket.readyState === socket.CLOSING ||
    (socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_UNSENT_BYTES);

  function look(): void {
    if (isFull()) return;
    for (const resolve of waiting) resolve();
    waiting.clear();
  }
  socket.on('close', look);

  function send(text: string): void {
    if (said === 0) setImmediate(() => (said = 0));
    said += text.length;
    // With a callback it never throws: what cannot be sent any more is nobody's loss.
    socket.send(text, look);
  }

  return {
    say: (message, lines = []) => send([JSON.stringify(message), ...lines].join('\n')),
    saySo: send,
    async room() {
      if (said > MUCH_CHARS) await new Promise((resolve) => setImmediate(resolve));
      if (isFull()) await new Promise<void>((resolve) => waiting.add(resolve));
    },
    get isOpen() {
      return socket.readyState === socket.OPEN;
    },
    get isFull() {
      return isFull();
    },
  };
}
