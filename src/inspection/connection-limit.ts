import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimit {
  /** Keeps a connection open, whatever else connects. */
  keep(socket: Socket): void;
}

/**
 * Limits the open connections of a server. Any local program can connect, and stay silent; so each connection above the limit closes the
 * oldest one that is not kept, or itself if all are.
 */
export function limitConnections(server: Server, most: number): ConnectionLimit {
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
