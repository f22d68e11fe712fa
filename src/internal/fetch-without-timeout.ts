import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { onAbort } from './async.ts';
import { isNode } from './is-node.ts';
import { proxyError, proxyFor, proxyRefusal, requestThrough } from './proxy.ts';

/** The platform's own `fetch`, except in Node. It does not follow redirects, so a key reaches only the host it was sent to. */
export const platformFetch: typeof globalThis.fetch = (input, init) =>
  isNode() ? fetchWithoutTimeout(input, init) : globalThis.fetch(input, { ...init, redirect: 'manual' });

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
export const fetchWithoutTimeout: typeof globalThis.fetch = async (input, init) => {
  const signal = init?.signal ?? null;
  const request = new Request(input, { ...init, signal: null });
  const body = Buffer.from(await request.arrayBuffer());
  signal?.throwIfAborted();
  return responseOf(await send(request, body, signal));
};

function send({ url, method, headers }: Request, body: Buffer, signal: AbortSignal | null): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const target = new URL(url);
    const isPlain = target.protocol === 'http:';
    const proxy = proxyFor(target);
    const options = { method, headers: Object.fromEntries(headers) };
    const { request } = process.getBuiltinModule(isPlain ? 'node:http' : 'node:https');
    const outgoing = proxy === null ? request(url, options) : requestThrough(proxy, target, options, signal);
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
      reject(proxy !== null && isPlain && !signal?.aborted ? proxyError(proxy, error) : error);
    });
    const forget = listen(signal, () => outgoing.destroy(signal?.reason));
    outgoing.end(body);
  });
}

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
