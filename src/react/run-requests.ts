import type { ClientEvent } from '../../machines/contracts/events.ts';
import { HttpError } from '../server/http-error.ts';
import type { Question } from '../server/updates.ts';
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
export async function fetchFrom(server: RunServer, path: string, init: RequestInit): Promise<Response> {
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
