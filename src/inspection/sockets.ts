import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { importByName } from '../internal/optional-package.ts';
import { isRejection, notFound, plainHeaders, type Rejection, type RequestAuthorizer } from './request-authorizer.ts';

/** A WebSocket endpoint below the token. */
export interface SocketEndpoint {
  /** A longer message closes its socket. */
  readonly maxMessageBytes: number;
  readonly maxSockets: number;
  /** Whether a socket with this `Origin` header is accepted; only browsers send one. `host` is the request's `Host` header. */
  allows(origin: string | undefined, host: string): boolean;
  /** Takes over a new socket. Must not throw. */
  accept(socket: WebSocket): void;
}

export interface Sockets {
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all sockets; terminates those that do not respond in time. */
  close(): Promise<void>;
}

/** RFC 6455, section 7.4.1. */
const GOING_AWAY = 1001;
const MAX_CLOSING_MS = 500;

/** Accepts WebSockets at the given endpoints, by path below the token. */
export async function openSockets(
  authorizer: RequestAuthorizer,
  endpoints: ReadonlyMap<string, SocketEndpoint>,
): Promise<Sockets> {
  // Its optional native parts, which are rarely installed, would be missing in every bundle.
  const { WebSocketServer } = await importByName<typeof import('ws')>('ws');
  const servers = new Map(
    [...endpoints].map(([path, { maxMessageBytes }]) => [
      path,
      new WebSocketServer({ noServer: true, maxPayload: maxMessageBytes, perMessageDeflate: false }),
    ]),
  );

  let isClosing = false;

  function endpointFor(
    request: IncomingMessage,
  ): Rejection | { readonly endpoint: SocketEndpoint; readonly server: WebSocketServer } {
    const authorized = authorizer.authorize(request);
    if (isRejection(authorized)) return authorized;
    const endpoint = endpoints.get(authorized.path ?? '');
    const server = servers.get(authorized.path ?? '');
    if (endpoint === undefined || server === undefined) return notFound;
    if (!endpoint.allows(request.headers.origin, authorized.host)) return { status: 403, text: 'Origin not allowed.' };
    if (isClosing) return { status: 503, text: 'The inspector is closing.' };
    if (server.clients.size >= endpoint.maxSockets)
      return { status: 503, text: `Too many connections (at most ${endpoint.maxSockets}); close one first.` };
    return { endpoint, server };
  }

  function upgrade(request: IncomingMessage, connection: Duplex, head: Buffer): void {
    connection.on('error', () => connection.destroy());
    const found = endpointFor(request);
    if ('status' in found) reject(connection, found);
    else
      found.server.handleUpgrade(request, connection, head, (socket) => {
        // For example, a message that is too long. The library closes the socket.
        socket.on('error', () => {});
        found.endpoint.accept(socket);
      });
  }

  async function close(): Promise<void> {
    isClosing = true;
    const sockets = [...servers.values()].flatMap(({ clients }) => [...clients]);
    const closed = sockets.map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())));
    for (const socket of sockets) socket.close(GOING_AWAY, 'The inspector is closing.');
    const timer = setTimeout(() => {
      for (const socket of sockets) socket.terminate();
    }, MAX_CLOSING_MS);
    await Promise.all(closed);
    clearTimeout(timer);
  }

  return { upgrade, close };
}

function reject(connection: Duplex, { status, text }: Rejection): void {
  const headers = {
    ...plainHeaders,
    connection: 'close',
    'content-type': 'text/plain; charset=utf-8',
    'content-length': `${Buffer.byteLength(text) + 1}`,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  connection.once('finish', () => connection.destroy());
  connection.end(`HTTP/1.1 ${status} Rejected\r\n${lines.join('')}\r\n${text}\n`);
}
