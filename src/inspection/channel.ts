import type { WebSocket } from 'ws';
import type { ServerMessage } from './wire.ts';

/** More than this on its way to a page, and what can wait waits. */
const MAX_UNSENT_BYTES = 4_194_304;

/** The server's side of the socket of a page. */
export interface Channel {
  say(message: ServerMessage, lines?: readonly string[]): void;
  /** The text of a message. */
  saySo(text: string): void;
  /** Resolves, in a later turn of the loop, when there is room for more, and when the page has gone. */
  room(): Promise<void>;
  readonly isOpen: boolean;
  /** There is no room. */
  readonly isFull: boolean;
}

export function channelTo(socket: WebSocket): Channel {
  const waiting = new Set<() => void>();
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

  // With a callback it never throws: what cannot be sent any more is nobody's loss.
  const send = (text: string): void => socket.send(text, look);

  return {
    say: (message, lines = []) => send([JSON.stringify(message), ...lines].join('\n')),
    saySo: send,
    async room() {
      await new Promise((resolve) => setImmediate(resolve));
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
