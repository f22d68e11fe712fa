import type { ClientEvent } from '../../machines/contracts/events.ts';
import { emptyView, nextView, type RunView } from '../server/run-view.ts';
import type { Question, RunUpdate } from '../server/updates.ts';
import type { ClientTool } from '../tools/client-tools.ts';
import { type ConnectionState, type Followed, followStream, post, type RunServer } from './connection.ts';

/** The body of `POST /runs`. */
export interface NewRun {
  readonly request: RunContent;
  /** Earlier turns, oldest first. */
  readonly history?: readonly { readonly role: 'user' | 'assistant'; readonly content: RunContent }[];
  /** The name of the chain or agent; by default the chain, or the only agent. */
  readonly agent?: string;
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

/** Starts a run, or finds the run that was started with the same idempotency key. Resolves with its id. Rejects with an `HttpError`. */
export async function startRun(server: RunServer, run: NewRun, idempotencyKey?: string): Promise<string> {
  const response = await post(server, '/runs', run, idempotencyKey);
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
export interface RunState extends ConnectionState {
  readonly view: RunView;
}

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
  const path = `/runs/${encodeURIComponent(runId)}/events`;
  for await (const { value: view, ...state } of followStream(server, path, RUN, signal)) yield { view, ...state };
}

const RUN: Followed<RunView> = {
  initial: emptyView,
  next: (view, data) => nextView(view, JSON.parse(data) as RunUpdate),
  isLast: ({ answer }) => answer !== null,
};
