import { type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { PostChainError } from '../../machines/contracts/error.ts';
import { onAbort } from './async.ts';

/**
 * `fetch` over Node's own HTTP, for two faults of the global one in Node (undici): it gives up after 300 s without a byte, whatever
 * deadline a run has, and after an abort in mid-reply it opens a connection that nobody asked for (nodejs/undici#5845).
 *
 * 1. It waits as long as its signal allows. 2. An abort or a cancelled body closes the socket at once. 3. Sockets of finished
 * replies are kept alive by Node's agent. 4. It follows no redirect, so a key goes nowhere but where it was sent to.
 */
export const fetchWithoutTimeout: typeof globalThis.fetch = async (input, init) => {
  const signal = init?.signal ?? null;
  const request = new Request(input, { ...init, signal: null });
  const body = Buffer.from(await request.arrayBuffer());
  signal?.throwIfAborted();
  return responseOf(await answerTo(request, body, signal));
};

function answerTo(
  { url, method, headers }: Request,
  body: Buffer,
  signal: AbortSignal | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? overHttps : overHttp;
    const outgoing = send(url, { method, headers: Object.fromEntries(headers) });
    outgoing.once('response', (incoming) => {
      forget();
      whileOpen(incoming, signal);
      resolve(incoming);
    });
    // What breaks once the answer is there is told by the answer.
    outgoing.on('error', (error) => {
      forget();
      reject(error);
    });
    const forget = listen(signal, () => outgoing.destroy(signal?.reason));
    outgoing.end(body);
  });
}

/** Not by the `signal` option of Node's request: that destroys the socket with an error even after it was handed back. */
function whileOpen(incoming: IncomingMessage, signal: AbortSignal | null): void {
  const forget = listen(signal, () => incoming.destroy(signal?.reason));
  incoming.once('end', forget).once('close', forget).on('error', forget);
}

function listen(signal: AbortSignal | null, act: () => void): () => void {
  return signal === null ? () => {} : onAbort(signal, act);
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
  const pieces: AsyncIterator<Buffer> = incoming[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
      },
      cancel: () => void incoming.destroy(),
    },
    { highWaterMark: 0 },
  );
}

/** What is shorter is no key, and too likely to be an ordinary word. */
const SECRET_CHARS = 12;

/** Headers that HTTP can send. Throws `invalid_option`, which names the first that it cannot. */
export function requireSendable(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    try {
      new Headers([[name, value]]);
    } catch {
      const message = `headers: ${JSON.stringify(name)} is no header that HTTP can send; correct its name or its value`;
      throw new PostChainError('invalid_option', message);
    }
  }
}

/** The words of these texts that may be keys: no error shows them. */
export function secretWords(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => text.split(/\s+/u)).filter((word) => word.length >= SECRET_CHARS);
}
