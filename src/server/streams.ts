import { PostChainError } from '../../machines/contracts/error.ts';
import { linkSignals } from '../internal/async.ts';
import type { BodyStreamOptions } from './body-stream.ts';
import type { ServerRequest, Streams } from './context.ts';
import { FINAL, HttpError } from './http-error.ts';
import { type ServerSentEvent, sseResponse } from './sse.ts';
import type { UsageLimits } from './usage-limits.ts';

interface StreamsOptions extends Omit<BodyStreamOptions, 'onEnd'> {
  readonly usage: UsageLimits;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Receives errors that clients must not see. */
  readonly onError: (c: ServerRequest, error: unknown) => void;
}

const INTERNAL = new HttpError(500, 'internal', 'Internal server error. See the server log.');
/** The message of the error contains entries of the journal. */
const DIVERGED = new HttpError(
  409,
  'diverged',
  'The machine of this server is not the one that recorded the actor. See the server log; the server may lack an earlier version.',
  FINAL,
);

export function createStreams({ usage, closing, onError, ...options }: StreamsOptions): Streams {
  async function opened<Items>(
    c: ServerRequest,
    open: (signal: AbortSignal) => Promise<Items>,
    leaving?: AbortSignal,
  ): Promise<{ readonly items: Items; readonly end: () => void }> {
    const endStream = usage.startStream(c.var.owner);
    const { signal, abort, forget } = linkSignals(closing, leaving);
    const end = (): void => {
      forget();
      abort();
      endStream();
    };
    try {
      return { items: await open(signal), end };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Logs the error that ends a stream, because its status was already sent. */
  async function* reported(c: ServerRequest, events: AsyncGenerator<ServerSentEvent, void>) {
    try {
      yield* events;
    } catch (error) {
      // The journal was deleted while the client was reading it.
      if (PostChainError.isInstance(error) && error.code === 'unknown_journal') return;
      errorFor(c, error);
      throw error;
    }
  }

  function errorFor(c: ServerRequest, error: unknown): HttpError {
    const known = knownError(error);
    if (known === null) onError(c, error);
    if (known !== null) return known;
    return Object(error).code === 'diverged' ? DIVERGED : INTERNAL;
  }

  return {
    async read(c, open, use) {
      const { items, end } = await opened(c, open, c.req.raw.signal);
      try {
        return await use(items);
      } finally {
        end();
      }
    },
    async stream(c, open, convert, headers = {}) {
      const { items, end } = await opened(c, open);
      // The response to HEAD has no body, so nothing would end the stream.
      if (c.req.method === 'HEAD') end();
      return sseResponse(reported(c, convert(items)), { ...options, headers, onEnd: end });
    },
    errorFor,
  };
}

/** Returns the error to show to a client; null if the client must not see it. */
function knownError(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (!PostChainError.isInstance(error)) return null;
  const { code, message } = error;
  const isOfClient = code === 'invalid_request' || code === 'invalid_option' || code === 'unsupported_file';
  return isOfClient ? new HttpError(400, code, message) : null;
}
