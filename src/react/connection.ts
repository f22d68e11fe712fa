import { createParser } from 'eventsource-parser';
import { HttpError } from '../server/http-error.ts';

/** How to reach a server of `createServer`. */
export interface RunServer {
  /** Its address, such as `https://chain.example.com`; empty for the page's own server. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** By default, the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
}

export interface ConnectionState {
  /** `idle` without anything to follow; `connecting` also while it reconnects; `closed` after the end or a permanent error. */
  readonly connection: 'idle' | 'connecting' | 'open' | 'closed';
  /** Why it cannot be followed at the moment, or null. An `HttpError` has the `status` and `code` that the server sent. */
  readonly error: Error | null;
}

/** Sends a request to the server. Rejects with an `HttpError` if the response is not successful. */
async function fetchFrom(server: RunServer, path: string, init: RequestInit): Promise<Response> {
  const { url, token, headers, fetch: send = globalThis.fetch } = server;
  const response = await send(`${url.replace(/\/+$/u, '')}${path}`, {
    ...init,
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers, ...init.headers },
  });
  if (response.ok) return response;
  const { status } = response;
  const sent = await response.json().catch(() => null);
  const body: { readonly code?: string; readonly message?: string } = sent ?? {};
  const { code = 'http_error', message = `The server responded with status ${status}.` } = body;
  throw new HttpError(status, code, message, { 'retry-after': response.headers.get('retry-after') ?? '' });
}

/** Sends JSON, by default without an idempotency key. Rejects with an `HttpError`. */
export const post = (server: RunServer, path: string, body: object, idempotencyKey?: string): Promise<Response> =>
  fetchFrom(server, path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    },
    body: JSON.stringify(body),
  });

/** The server sends a comment every 15 seconds. A connection that is silent for this long is dead, even if no error is reported. */
const SILENCE_MS = 60_000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

export interface Followed<Value> {
  /** Before the first event. */
  readonly initial: Value;
  /** Returns the value after the next event. */
  next(value: Value, data: string): Value;
  isLast(value: Value): boolean;
}

/**
 * Yields the value that the events of a stream add up to, whenever it or the connection changes, until the last one. Reconnects after a lost
 * connection, and continues after the last event that it received. Ends early after a permanent error, or when the signal aborts. `server` is
 * called for each connection, so that a token may change.
 */
export async function* followStream<Value>(
  server: () => RunServer,
  path: string,
  { initial, next, isLast }: Followed<Value>,
  signal: AbortSignal,
): AsyncGenerator<ConnectionState & { readonly value: Value }, void> {
  let value = initial;
  let lastEventId = '';
  let failures = 0;
  while (!signal.aborted) {
    let error: Error | null = null;
    try {
      const headers = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
      const response = await fetchFrom(server(), path, { headers, signal });
      yield { value, connection: 'open', error: null };
      for await (const { id = lastEventId, data } of receivedEvents(response)) {
        failures = 0;
        lastEventId = id;
        value = data.reduce(next, value);
        if (isLast(value)) return yield { value, connection: 'closed', error: null };
        yield { value, connection: 'open', error: null };
      }
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    if (signal.aborted) return;
    if (error instanceof HttpError && !isTemporary(error)) return yield { value, connection: 'closed', error };
    yield { value, connection: 'connecting', error };
    await pause(Math.max(retryAfterMs(error), backoffMs(failures)), signal);
    failures += 1;
  }
}

/** Yields the data of the events of each chunk of a stream together, with the id of the last one. */
async function* receivedEvents(response: Response) {
  const received: { id?: string | undefined; data: string[] } = { data: [] };
  const parser = createParser({
    onEvent({ id, data }) {
      received.data.push(data);
      received.id = id;
    },
  });
  const decoder = new TextDecoder();
  const type = response.headers.get('content-type') ?? '';
  const reader = response.body?.getReader();
  if (reader === undefined || !type.startsWith('text/event-stream'))
    throw new HttpError(response.status, 'not_a_stream', `url: expected an event stream; received "${type}".`);
  try {
    for (;;) {
      const silent = setTimeout(() => void reader.cancel(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silent));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (received.data.length > 0) yield { id: received.id, data: received.data.splice(0) };
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** Returns whether the same request may succeed later. */
const isTemporary = ({ status }: HttpError): boolean => status >= 500 || status === 429 || status === 408;

const retryAfterMs = (error: Error | null): number =>
  error instanceof HttpError ? (Number(error.headers['retry-after']) || 0) * 1_000 : 0;

/** Random, so that the clients of a restarted server do not all reconnect at the same time. */
const backoffMs = (failures: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
