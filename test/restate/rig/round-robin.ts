import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

export interface RoundRobin {
  readonly uri: string;
  stop(): Promise<void>;
}

/**
 * A balancer as it stands before several processes of one service: each request goes to the next one. It balances requests and not
 * connections, since Restate sends many requests over one. Where a process is gone, its requests break off, and Restate asks again.
 */
export async function startRoundRobin(uris: readonly string[]): Promise<RoundRobin> {
  const sessions = new Map<string, ClientHttp2Session>();
  let turn = 0;

  function sessionOf(uri: string): ClientHttp2Session {
    const known = sessions.get(uri);
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = connect(uri);
    session.on('error', () => {});
    sessions.set(uri, session);
    return session;
  }

  const server = createServer();
  server.on('stream', (incoming: ServerHttp2Stream, headers) => {
    const uri = uris[turn % uris.length] ?? '';
    turn += 1;
    const outgoing = sessionOf(uri).request(headers);
    const breakOff = (): void => {
      incoming.close(constants.NGHTTP2_CANCEL);
      outgoing.close(constants.NGHTTP2_CANCEL);
    };
    outgoing.once('response', (answer) => {
      if (!incoming.destroyed) incoming.respond(answer);
    });
    incoming.on('error', breakOff).once('aborted', breakOff);
    outgoing.on('error', breakOff).once('aborted', breakOff);
    incoming.pipe(outgoing).pipe(incoming);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const session of sessions.values()) session.destroy();
      server.close();
    },
  };
}
