import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { completion } from './chat-server.ts';

export interface ProxyServer {
  readonly origin: string;
  /** What was asked of the proxy, in order: the method, the target, and its own headers. */
  readonly asked: readonly { readonly line: string; readonly authorization: string | undefined }[];
  /** Resolves when all its tunnels are closed. */
  readonly allClosed: () => Promise<void>;
}

/**
 * A real HTTP proxy on loopback, stopped at the end of the test. It forwards each request, and opens each tunnel, to the loopback port that
 * `portOf` returns for a host; for null it answers with `refusal`, and never if that is 0.
 */
export async function proxyServer(portOf: (host: string) => number | null, refusal = 403): Promise<ProxyServer> {
  const asked: { line: string; authorization: string | undefined }[] = [];
  const sockets: Promise<unknown>[] = [];
  const server = createServer((incoming, response) => {
    const { method = '', url = '', headers } = incoming;
    asked.push({ line: `${method} ${url}`, authorization: headers['proxy-authorization'] });
    const target = new URL(url);
    const port = portOf(target.hostname);
    if (port === null) {
      response.writeHead(refusal).end();
      return;
    }
    const outgoing = request({ host: '127.0.0.1', port, method, path: target.pathname, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing);
  });
  server.on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push({ line: `CONNECT ${url}`, authorization: headers['proxy-authorization'] });
    const port = portOf(url.split(':')[0] ?? '');
    client.on('error', () => {});
    sockets.push(once(client, 'close'));
    if (port === null) {
      if (refusal === 0) client.on('end', () => client.destroy()).resume();
      else client.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
      return;
    }
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.on('connection', (socket: Socket) => onTestFinished(() => void socket.destroy()));
  return { origin: await listening(server, 'http'), asked, allClosed: async () => void (await Promise.all(sockets)) };
}

/** A chat completions server with TLS for the name llm.test, with a certificate that nobody trusts. */
export async function tlsChatServer(): Promise<{ readonly port: number; readonly authorizations: unknown[] }> {
  const authorizations: unknown[] = [];
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (incoming, response) => {
    authorizations.push(incoming.headers.authorization);
    incoming.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(completion('over TLS'));
  });
  const origin = await listening(server, 'https');
  return { port: Number(new URL(origin).port), authorizations };
}

async function listening(server: ReturnType<typeof createServer>, scheme: string): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Made for these tests; used nowhere else. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRTXckPHQ/QAfQWeM
eMiZBYI0+v0IwCYvrD6ofNLiCluhRANCAATNYAgLoX7hpALKP7XuxQX4slU5XRZW
tBSbCcOL2im1dJyrt9tDsKqPpButMwj3WxNcSpA4SlBchii4EGVKbWXj
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBXTCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjATMREwDwYDVQQDDAhsbG0udGVz
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowEzERMA8GA1UEAwwI
bGxtLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATNYAgLoX7hpALKP7Xu
xQX4slU5XRZWtBSbCcOL2im1dJyrt9tDsKqPpButMwj3WxNcSpA4SlBchii4EGVK
bWXjo0cwRTATBgNVHREEDDAKgghsbG0udGVzdDAPBgNVHRMBAf8EBTADAQH/MB0G
A1UdDgQWBBQHq9f6okvsWY0al/UBM1YPRQed9jAKBggqhkjOPQQDAgNHADBEAiBP
3OrOm0b0QqCxSVBPlBm6zq1OxgrIpls71KbFOq2vfwIgRV7bcRCrxLDXj1lJs+To
yTTxpSK/boRvxquvacLuItw=
-----END CERTIFICATE-----`;
