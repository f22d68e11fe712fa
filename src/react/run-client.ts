import { createParser } from 'eventsource-parser';
import type { ClientEvent } from '../../machines/contracts/events.ts';
import { HttpError } from '../server/http-error.ts';
import { emptyView, nextView, type RunView } from '../server/run-view.ts';
import type { Question, RunUpdate } from '../server/updates.ts';
import type { ClientTool } from '../tools/client-tools.ts';

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

/** The body of `POST /runs`. */
export interface NewRun {
  readonly request: RunContent;
  /** Earlier turns, oldest first. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: RunContent }[];
  readonly instructions?: string;
  /** Tools that the page runs itself; `arguments` is a JSON Schema. */
  readonly clientTools?: readonly ClientTool[];
  /** `manual`: after each cycle, the run waits for the user's direction. */
  readonly mode?: 'automatic' | 'manual';
  /** The session that the run belongs to; you choose its name. */
  readonly session?: string;
}

/** Files are Base64 text or `data:` URLs. */
type RunContent =
  | string
  | readonly (
      | { readonly type: 'text'; readonly text: string }
      | { readonly type: 'image'; readonly image: string; readonly mediaType?: string }
      | { readonly type: 'file'; readonly data: string; readonly mediaType?: string; readonly filename?: string }
    )[];

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

const post = (server: RunServer, path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
  fetchFrom(server, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Starts a run, or finds the run that was started with the same idempotency key. Resolves with its id. Rejects with an `HttpError`. */
export async function startRun(server: RunServer, run: NewRun, idempotencyKey?: string): Promise<string> {
  const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  const response = await post(server, '/runs', run, headers);
  return ((await response.json()) as { runId: string }).runId;
}

/** Sends an event to a run, and resolves when it is stored. Rejects with an `HttpError`, for example `answer_refused`. */
export async function sendToRun(server: RunServer, runId: string, event: ClientEvent): Promise<void> {
  await post(server, `/runs/${encodeURIComponent(runId)}/events`, event);
}

type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { type: Type }>;

/** The reply to a question of each kind. */
interface Replies {
  readonly approval: Omit<EventOf<'approval.given'>, 'type' | 'questionId' | 'digest'>;
  readonly consent: Omit<EventOf<'consent.given'>, 'type' | 'questionId'>;
  readonly direction: Omit<EventOf<'run.directed'>, 'type' | 'questionId'> | 'finish';
}
export type ReplyTo<Asked extends Question> = Replies[Asked['kind']];

/** Returns the event that answers a question. It has no effect on any other question. */
export function answerEvent<Asked extends Question>(question: Asked, reply: ReplyTo<Asked>): ClientEvent {
  const asked: Question = question;
  const { questionId } = asked;
  if (reply === 'finish') return { type: 'run.finished', questionId };
  if (asked.kind === 'consent') return { ...(reply as Replies['consent']), type: 'consent.given', questionId };
  if (asked.kind === 'direction')
    return { ...(reply as Omit<EventOf<'run.directed'>, 'type'>), type: 'run.directed', questionId };
  return { ...(reply as Replies['approval']), type: 'approval.given', questionId, digest: asked.digest };
}

/** The state of a run on a server, as its client knows it. */
export interface RunState {
  readonly view: RunView;
  /** `idle` without a run; `connecting` also while it reconnects; `closed` after the answer or a permanent error. */
  readonly connection: 'idle' | 'connecting' | 'open' | 'closed';
  /** Why the run cannot be followed at the moment, or null. An `HttpError` has the `status` and `code` that the server sent. */
  readonly error: Error | null;
}

/** The server sends a comment every 15 seconds. A connection that is silent for this long is dead, even if no error is reported. */
const SILENCE_MS = 60_000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

/**
 * Yields the state of a run whenever it changes, until its answer. Reconnects after a lost connection, and continues after the last update
 * that it received. Ends without an answer after a permanent error, or when the signal aborts. `server` is called for each connection, so
 * that a token may change.
 */
export async function* followRun(
  server: () => RunServer,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<RunState, void> {
  let view = emptyView;
  let lastEventId = '';
  let failures = 0;
  while (!signal.aborted) {
    let error: Error | null = null;
    try {
      const headers = lastEventId === '' ? {} : { 'last-event-id': lastEventId };
      const response = await fetchFrom(server(), `/runs/${encodeURIComponent(runId)}/events`, { headers, signal });
      yield { view, connection: 'open', error: null };
      for await (const { id = lastEventId, updates } of receivedUpdates(response)) {
        failures = 0;
        lastEventId = id;
        view = updates.reduce(nextView, view);
        if (view.answer !== null) return yield { view, connection: 'closed', error: null };
        yield { view, connection: 'open', error: null };
      }
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error(String(thrown));
    }
    if (signal.aborted) return;
    if (error instanceof HttpError && !isTemporary(error)) return yield { view, connection: 'closed', error };
    yield { view, connection: 'connecting', error };
    await pause(Math.max(retryAfterMs(error), backoffMs(failures)), signal);
    failures += 1;
  }
}

/** Yields the updates of each chunk of a stream together, with the id of the last one. */
async function* receivedUpdates(response: Response) {
  const received: { id?: string | undefined; updates: RunUpdate[] } = { updates: [] };
  const parser = createParser({
    onEvent({ id, data }) {
      received.updates.push(JSON.parse(data));
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
      if (received.updates.length > 0) yield { id: received.id, updates: received.updates.splice(0) };
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
