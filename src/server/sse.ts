import type { Clock } from '../durable/clock.ts';

/** A server-sent event. `data` is one line. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}

export interface StreamOptions {
  readonly clock: Clock;
  /** How often an idle stream sends a comment, so that proxies keep the connection open, in milliseconds. */
  readonly keepAliveMs: number;
  /** How long a client may stop reading before it is disconnected, in milliseconds. */
  readonly writeTimeoutMs: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the client has disconnected or everything has been sent. */
  readonly onEnd: () => void;
}

const KEEP_ALIVE = ': keep-alive\n\n';

/**
 * Returns a response that streams the events. Each event is read only after the client has received the one before it, so a slow client
 * delays only itself.
 */
export function sseResponse(events: AsyncGenerator<ServerSentEvent, void>, options: StreamOptions): Response {
  const { clock, keepAliveMs, writeTimeoutMs, headers, onEnd } = options;
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<ServerSentEvent, void>> | null = null;
  let stall: unknown;
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    clock.clearTimeout(stall);
    onEnd();
    void events.return().catch(() => {});
  };
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      clock.clearTimeout(stall);
      next ??= events.next();
      let timer: unknown;
      const silence = new Promise<null>((resolve) => {
        timer = clock.setTimeout(() => resolve(null), keepAliveMs);
      });
      try {
        const result = await Promise.race([next, silence]);
        if (isOver) return;
        if (result === null) controller.enqueue(encoder.encode(KEEP_ALIVE));
        else {
          next = null;
          if (result.done) {
            end();
            controller.close();
            return;
          }
          controller.enqueue(encoder.encode(textOf(result.value)));
        }
        stall = clock.setTimeout(() => {
          const stopped = new Error('the client stopped reading');
          // HTTP adapters print the error. Its stack says nothing about the client.
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
  return new Response(stream, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    },
  });
}

function textOf({ event, id, data }: ServerSentEvent): string {
  return `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
