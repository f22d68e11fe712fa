import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { Agent, RequestOptions as HttpsRequestOptions } from 'node:https';
import type { Duplex, Transform } from 'node:stream';
import { onAbort } from './async.ts';
import { isNode } from './is-node.ts';
import { isLoopback } from './loopback.ts';
import { TransportError } from './transport-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the proxy for a URL, or null: that of `https_proxy` or `http_proxy`, unless `no_proxy` lists the host. Each variable may be in
 * upper case. As in curl and Go, the proxy's scheme is http by default, a listed host includes its subdomains, and an address range in CIDR
 * notation includes its addresses. A server on loopback has no proxy.
 *
 * @throws TransportError for a proxy that is not an http or https URL. Credentials are not quoted.
 */
export function proxyFor(url: URL, env: Environment = process.env): URL | null {
  const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  const text = variable(env, name);
  if (text === '' || isLoopback(url.hostname) || isListed(url, variable(env, 'no_proxy'))) return null;
  const href = /^[a-z][\w+.-]*:\/\//iu.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(href) ? new URL(href) : null;
  if (proxy !== null && !isDecodable(proxy))
    throw new TransportError(
      'proxy_failed',
      `${name.toUpperCase()} has a user or password with an invalid % sequence; write a percent sign as %25`,
    );
  if (proxy !== null && /^https?:$/u.test(proxy.protocol)) return proxy;
  const received =
    proxy === null ? 'something that is not a URL' : `a URL with the scheme ${JSON.stringify(proxy.protocol)}`;
  throw new TransportError(
    'proxy_failed',
    `${name.toUpperCase()} must be an http or https URL, for example http://proxy.example.com:3128; received ${received}`,
  );
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

function variable(env: Environment, name: string): string {
  return (env[name] || env[name.toUpperCase()] || '').trim();
}

function isListed({ hostname, port, protocol }: URL, list: string): boolean {
  const ownPort = port || (protocol === 'https:' ? '443' : '80');
  const host = hostname.replace(/\.$/u, '');
  return list.split(/[\s,]+/u).some((entry) => {
    if (entry === '*' || isInRange(host, entry)) return true;
    // An IPv6 address may have no brackets.
    const text = /^[\da-f:]*:[\da-f]*:[\da-f:.]*$/iu.test(entry) ? `[${entry}]` : entry;
    const [, name = '', entryPort = ownPort] = /^\*?\.?(\[.*\]|[^:]*?)\.?(?::(\d+))?$/u.exec(text.toLowerCase()) ?? [];
    return name !== '' && entryPort === ownPort && `.${host}`.endsWith(`.${name}`);
  });
}

/** Whether a host is an address in a range in CIDR notation: `10.0.0.0/8` or `fd00::/8`. */
function isInRange(host: string, range: string): boolean {
  const [, network = '', bits] = /^([^/]+)\/(\d{1,3})$/u.exec(range) ?? [];
  if (bits === undefined) return false;
  const { BlockList, isIP } = process.getBuiltinModule('node:net');
  const [address, first] = [withoutBrackets(host), withoutBrackets(network)];
  const [version, widest] = isIP(first) === 4 ? (['ipv4', 32] as const) : (['ipv6', 128] as const);
  if (isIP(address) === 0 || isIP(first) === 0 || Number(bits) > widest) return false;
  // BlockList regards an IPv4 address as an IPv6 one, so ::/0 would include all of them.
  if (version === 'ipv6' && isIP(address) === 4) return false;
  const list = new BlockList();
  list.addSubnet(first, Number(bits), version);
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/u, '$1');

interface OutgoingOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** `connectSignal` ends a tunnel that is not open yet. */
interface TunnelOptions extends HttpsRequestOptions {
  readonly connectSignal?: AbortSignal | null;
}

/** Returns a request through a proxy, not sent yet: to the proxy itself for an http URL, through a tunnel for an https URL. */
function requestThrough(
  proxy: URL,
  url: URL,
  { method, headers }: OutgoingOptions,
  signal: AbortSignal | null,
): ClientRequest {
  if (url.protocol === 'https:') {
    const options: TunnelOptions = { method, headers, agent: tunnelsOf(proxy), connectSignal: signal };
    return process.getBuiltinModule('node:https').request(url, options);
  }
  return requestTo(proxy, {
    method,
    path: url.href,
    headers: { host: url.host, ...headers, ...authorizationFor(proxy) },
  });
}

function requestTo(proxy: URL, options: RequestOptions): ClientRequest {
  const { protocol, hostname, port } = proxy;
  const address = { ...options, hostname: withoutBrackets(hostname), port };
  return process.getBuiltinModule(protocol === 'https:' ? 'node:https' : 'node:http').request(address);
}

function authorizationFor({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const credentials = [username, password].map(decodeURIComponent).join(':');
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

const tunnels = new Map<string, Agent>();

function tunnelsOf(proxy: URL): Agent {
  const agent = tunnels.get(proxy.href) ?? tunnelAgent(proxy);
  tunnels.set(proxy.href, agent);
  return agent;
}

/** Returns an agent that connects through a proxy with CONNECT (RFC 9110, 9.3.6), and keeps the tunnels of finished replies alive. */
function tunnelAgent(proxy: URL): Agent {
  const { Agent } = process.getBuiltinModule('node:https');
  const agent = new Agent({ keepAlive: true });
  const connectTls = agent.createConnection.bind(agent);
  agent.createConnection = (options: TunnelOptions, callback): undefined => {
    const { host, port, connectSignal: signal } = options;
    const target = `${host?.includes(':') ? `[${host}]` : host}:${port}`;
    const headers = { host: target, connection: 'keep-alive', ...authorizationFor(proxy) };
    const connect = requestTo(proxy, { method: 'CONNECT', path: target, headers, agent: false });
    const forget = signal ? onAbort(signal, () => connect.destroy(signal.reason)) : () => {};
    const end = callback as (error: Error | null, stream?: Duplex) => void;
    connect.once('connect', ({ statusCode = 0 }, socket) => {
      forget();
      if (statusCode === 200) return end(null, connectTls({ ...options, socket } as TunnelOptions) as Duplex);
      socket.destroy();
      return end(proxyRefusal(proxy, target, statusCode));
    });
    connect.once('error', (error) => {
      forget();
      end(signal?.aborted ? error : proxyError(proxy, error));
    });
    connect.end();
  };
  return agent;
}

function proxyError(proxy: URL, cause: Error): TransportError {
  const { code = cause.message } = cause as { code?: unknown };
  const message = `cannot connect to the proxy ${proxy.origin} (${code}); check HTTPS_PROXY, HTTP_PROXY and NO_PROXY`;
  return new TransportError('proxy_failed', message, { isRetryable: true, cause });
}

function proxyRefusal(proxy: URL, host: string, status: number): TransportError {
  const advice =
    status === 407
      ? 'it requires credentials; set HTTPS_PROXY or HTTP_PROXY to http://user:password@host:port'
      : 'check that it allows this host, or list the host in NO_PROXY';
  const message = `the proxy ${proxy.origin} responded with ${status} to a request for ${host}; ${advice}`;
  return new TransportError('proxy_failed', message, { isRetryable: status >= 500 });
}

/** The platform's own `fetch`, except in Node. It does not follow redirects, so a key reaches only the host it was sent to. */
export const platformFetch: typeof globalThis.fetch = (input, init) =>
  isNode() ? fetchWithoutTimeout(input, init) : globalThis.fetch(input, { ...init, redirect: 'manual' });

/** As `platformFetch`, for requests that may be repeated: one on a kept connection that the server has closed is sent again. */
export const repeatingFetch: typeof globalThis.fetch = (input, init) =>
  isNode() ? fetchWithoutTimeout(input, init, true) : platformFetch(input, init);

/** Loaded when it is used, because other platforms do not have it. */
const zlib = () => process.getBuiltinModule('node:zlib');

/**
 * `fetch` on top of Node's own HTTP client. It avoids two problems of Node's global fetch (undici): that gives up after 300 s without
 * a byte, whatever deadline a run has, and after an abort in mid-reply it opens a connection nobody asked for (nodejs/undici#5845).
 *
 * - It waits as long as its signal allows.
 * - An abort or a canceled body closes the socket at once.
 * - Node's agent keeps the sockets of finished replies alive.
 * - It uses the proxy of `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in `NO_PROXY` and on loopback.
 * - It follows no redirect, so a key reaches only the host it was sent to.
 * - It decodes gzip, deflate and br, which some servers send unasked.
 */
export async function fetchWithoutTimeout(
  input: Parameters<typeof globalThis.fetch>[0],
  init?: RequestInit,
  mayRepeat = false,
): Promise<Response> {
  const signal = init?.signal ?? null;
  const request = new Request(input, { ...init, signal: null });
  const body = Buffer.from(await request.arrayBuffer());
  signal?.throwIfAborted();
  return responseOf(await send(request, body, { signal, mayRepeat }));
}

interface SendOptions {
  readonly signal: AbortSignal | null;
  readonly mayRepeat: boolean;
}

function send(given: Request, body: Buffer, options: SendOptions): Promise<IncomingMessage> {
  const { url, method, headers } = given;
  const { signal, mayRepeat } = options;
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const isPlain = target.protocol === 'http:';
    const proxy = proxyFor(target);
    const about = { method, headers: Object.fromEntries(headers) };
    const { request } = process.getBuiltinModule(isPlain ? 'node:http' : 'node:https');
    const outgoing = proxy === null ? request(url, about) : requestThrough(proxy, target, about, signal);
    outgoing.once('response', (incoming) => {
      forget();
      if (proxy !== null && isPlain && incoming.statusCode === 407) {
        incoming.destroy();
        reject(proxyRefusal(proxy, target.host, 407));
        return;
      }
      destroyOnAbort(incoming, signal);
      resolve(incoming);
    });
    // After the response has arrived, errors surface on its body.
    outgoing.on('error', (error) => {
      forget();
      if (mayRepeat && outgoing.reusedSocket && isClosed(error) && !signal?.aborted)
        resolve(send(given, body, options));
      else reject(proxy !== null && isPlain && !signal?.aborted ? proxyError(proxy, error) : error);
    });
    const forget = listen(signal, () => outgoing.destroy(signal?.reason));
    outgoing.end(body);
  });
}

/** A server that announces `Keep-Alive` may close the connection meanwhile; llama.cpp's does after each streamed reply. */
const isClosed = ({ code = '' }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

/** Node's own `signal` option is not used: it destroys the socket with an error even after the agent took it back. */
function destroyOnAbort(incoming: IncomingMessage, signal: AbortSignal | null): void {
  const forget = listen(signal, () => incoming.destroy(signal?.reason));
  incoming.once('end', forget).once('close', forget).on('error', forget);
}

function listen(signal: AbortSignal | null, callback: () => void): () => void {
  return signal === null ? () => {} : onAbort(signal, callback);
}

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 500, statusMessage: statusText = '', headersDistinct } = incoming;
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  if (status === 204 || status === 205 || status === 304) {
    incoming.resume();
    return new Response(null, { status, statusText, headers });
  }
  const decoder = decoderFor(headers.get('content-encoding'));
  if (decoder !== null) for (const name of ['content-encoding', 'content-length']) headers.delete(name);
  // The errors of a pipeline surface in the iteration of its result.
  const body =
    decoder === null ? incoming : process.getBuiltinModule('node:stream').pipeline(incoming, decoder, () => {});
  return new Response(bodyOf(body, incoming), { status, statusText, headers });
}

/** What has arrived is decoded at once, and a body that ends early is decoded as far as it goes. Null for an unknown coding. */
function decoderFor(coding: string | null): Transform | null {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib().constants;
  switch (coding?.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
    case 'deflate':
      return zlib().createUnzip({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH });
    case 'br':
      return zlib().createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH });
    default:
      return null;
  }
}

function bodyOf(body: AsyncIterable<Buffer>, incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  );
}
