import type { Clock } from '../durable/clock.ts';

export interface BodyStreamOptions {
  readonly clock: Clock;
  /** How often an idle stream sends a comment, so that proxies keep the connection open, in milliseconds. */
  readonly keepAliveMs: number;
  /** How long a client may stop reading before it is disconnected, in milliseconds. */
  readonly writeTimeoutMs: number;
  /** Called when the client has disconnected or everything has been sent. */
  readonly onEnd?: () => void;
}

const KEEP_ALIVE = new TextEncoder().encode(': keep-alive\n\n');

/**
 * Returns a stream of the chunks. Each chunk is read only after the client has received the one before it, so a slow client delays only
 * itself.
 */
export function bodyStream(chunks: AsyncGenerator<Uint8Array, void>, options: BodyStreamOptions): ReadableStream {
  const { clock, keepAliveMs, writeTimeoutMs, onEnd = () => {} } = options;
  let next: Promise<IteratorResult<Uint8Array, void>> | null = null;
  let stall: unknown;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clock.clearTimeout(stall);
    onEnd();
    void chunks.return().catch(() => {});
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      clock.clearTimeout(stall);
      next ??= chunks.next();
      let timer: unknown;
      const silence = new Promise<null>((resolve) => {
        timer = clock.setTimeout(() => resolve(null), keepAliveMs);
      });
      try {
        const result = await Promise.race([next, silence]);
        if (isOver) return;
        if (result === null) controller.enqueue(KEEP_ALIVE.slice());
        else {
          next = null;
          if (result.done) {
            end();
            controller.close();
            return;
          }
          controller.enqueue(result.value);
        }
        stall = clock.setTimeout(() => {
          const stopped = new Error('the client stopped reading');
          // HTTP adapters print the error, and its stack has no information about the client.
          delete stopped.stack;
          controller.error(stopped);
          end();
        }, writeTimeoutMs);
      } catch (error) {
        end();
        controller.error(error);
      } finally {
        clock.clearTimeout(timer);
      }
    },
    cancel: end,
  });
}

const PIECE_BYTES = 65_536;

/** Returns a response that sends large JSON in pieces. Otherwise, HTTP adapters keep all of it in memory until the client has read it. */
export async function inPieces(response: Response, options: BodyStreamOptions): Promise<Response> {
  const { status, headers } = response;
  // The type is checked first: the adapter for Node.js handles a response faster if its `body` was not accessed.
  if (!headers.get('content-type')?.startsWith('application/json') || response.body === null) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes.length <= PIECE_BYTES) return new Response(bytes, { status, headers });
  headers.set('content-length', String(bytes.length));
  return new Response(bodyStream(piecesOf(bytes), options), { status, headers });
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.slice(at, at + PIECE_BYTES);
}
