import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { plainHeaders } from './page-headers.ts';
import { isRefusal, nothingHere, type Refusal, type RequestAuthorizer } from './request-authorizer.ts';

/** A place under the token where WebSockets are opened. */
export interface SocketPlace {
  /** A longer message ends its socket. */
  readonly maxMessageBytes: number;
  /** So many at once. */
  readonly maxSockets: number;
  /** Whether a socket of this origin is taken. `host` is the server, as the request calls it; programs that are no browsers have no origin. */
  allows(origin: string | undefined, host: string): boolean;
  /** Speaks with it from here on. Must not throw. */
  accept(socket: WebSocket): void;
}

export interface Sockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Ends them all; those that do not answer in time are cut off. */
  close(): Promise<void>;
}

/** Of RFC 6455: the server goes away. */
const GOING_AWAY = 1001;
const MAX_CLOSING_MS = 500;

/** What `places` has by a path is opened there, and nothing else. */
export function openSockets(door: RequestAuthorizer, places: ReadonlyMap<string, SocketPlace>): Sockets {
  const servers = new Map(
    [...places].map(([path, { maxMessageBytes }]) => [
      path,
      new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false }),
    ]),
  );

  let isClosing = false;

  /** The place that a request is for, or why it is not let in. */
  function placeFor(
    request: IncomingMessage,
  ): Refusal | { readonly place: SocketPlace; readonly server: WebSocketServer } {
    const admission = door.admit(request);
    if (isRefusal(admission)) return admission;
    const place = places.get(admission.path ?? '');
    const server = servers.get(admission.path ?? '');
    if (place === undefined || server === undefined) return nothingHere;
    if (!place.allows(request.headers.origin, admission.host))
      return { status: 403, text: 'No page of another server is let in.' };
    if (isClosing) return { status: 503, text: 'The inspector is being closed.' };
    if (server.clients.size >= place.maxSockets)
      return { status: 503, text: `There are ${place.maxSockets} here already: close one first.` };
    return { place, server };
  }

  function upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', () => connection.destroy());
    const found = placeFor(request);
    if ('status' in found) turnAway(connection, found);
    else
      found.server.handleUpgrade(request, connection, head, (socket) => {
        // A message that is too long, say: the library closes the socket.
        socket.on('error', () => {});
        found.place.accept(socket);
      });
  }

  async function close(): Promise<void> {
    isClosing = true;
    const sockets = [...servers.values()].flatMap(({ clients }) => [...clients]);
    const gone = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
    for (const socket of sockets) socket.close(GOING_AWAY, 'The inspector is closed.');
    const cutOff = setTimeout(() => {
      for (const socket of sockets) socket.terminate();
    }, MAX_CLOSING_MS);
    await Promise.all(gone);
    clearTimeout(cutOff);
  }

  return { upgrade, close };
}

function turnAway(connection: Duplex, { status, text }: Refusal): void {
  const headers = {
    ...plainHeaders,
    connection: 'close',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': `${Buffer.byteLength(text) + 1}`,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.once('finish', () => connection.destroy());
  connection.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}\n`);
}
