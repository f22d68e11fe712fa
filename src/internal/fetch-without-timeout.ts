import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { onAbort } from './async.ts';

/**
 * `fetch` on top of Node's own HTTP client. It avoids two problems of Node's global fetch (undici): that gives up after 300 s without
 * a byte, whatever deadline a run has, and after an abort in mid-reply it opens a connection nobody asked for (nodejs/undici#5845).
 *
 * - It waits as long as its signal allows.
 * - An abort or a canceled body closes the socket at once.
 * - Node's agent keeps the sockets of finished replies alive.
 * - It follows no redirect, so a key reaches only the host it was sent to.
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
    const request = url.startsWith('https:') ? httpsRequest : httpRequest;
    const outgoing = request(url, { method, headers: Object.fromEntries(headers) });
    outgoing.once('response', (incoming) => {
      forget();
      destroyOnAbort(incoming, signal);
      resolve(incoming);
    });
    // After the response has arrived, errors surface on its body.
    outgoing.on('error', (error) => {
      forget();
      reject(error);
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
  return new Response(bodyOf(incoming), { status, statusText, headers });
}

function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Buffer> = incoming[Symbol.asyncIterator]();
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
