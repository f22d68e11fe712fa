import type { ApprovalGiven } from '../durable/approval.ts';
import type { OpenApproval } from '../durable/entries.ts';
import type { ActorState } from '../server/actor-states.ts';
import { type ConnectionState, type Followed, followStream, post, type RunServer } from './connection.ts';

/** The state of an actor of a server. Its context is the JSON that the server shows. */
export type RemoteSnapshot<Context = unknown> = Omit<ActorState, 'context'> & { readonly context: Context };

/** What a client knows of an actor. `snapshot` is null until the server has sent the first one. */
export interface RemoteState<Context = unknown> extends ConnectionState {
  readonly snapshot: RemoteSnapshot<Context> | null;
}

/** An event for an actor of a server. */
export type RemoteEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The answer to an approval. */
export type ApprovalReply = Pick<ApprovalGiven, 'decision' | 'edited' | 'reason'>;

interface Listener<Context> {
  /** Called when the snapshot or the state of the connection has changed. */
  readonly next?: (snapshot: RemoteSnapshot<Context> | null) => void;
  /** Called after a permanent error: nothing follows. */
  readonly error?: (error: unknown) => void;
  /** Called when the actor has ended: nothing follows. */
  readonly complete?: () => void;
}

/** An actor of a server, as a reference that `useSelector` of `@xstate/react` accepts. */
export interface RemoteActor<Context = unknown> {
  readonly id: string;
  /** Returns the last snapshot that the server has sent, or null. */
  getSnapshot(): RemoteSnapshot<Context> | null;
  /** Returns the snapshot with the state of the connection. */
  getState(): RemoteState<Context>;
  /** Follows the actor as long as something subscribes to it. After its end or a permanent error, reports that at once. */
  subscribe(listener: Listener<Context> | Listener<Context>['next']): { unsubscribe(): void };
  /**
   * Resolves when the event is stored: to false if it changed nothing, for example because its key is known or the actor has ended. Rejects
   * with an `HttpError`, for example `actor_busy`.
   */
  send(event: RemoteEvent, idempotencyKey?: string): Promise<boolean>;
  /** Answers one of the approvals of the snapshot, as `send` does. */
  answer(asked: OpenApproval, reply: ApprovalReply): Promise<boolean>;
}

/** Starts an actor, or finds the one that was started with the same idempotency key. Resolves to its id. Rejects with an `HttpError`. */
export async function startActor(
  server: RunServer,
  machine: string,
  input?: unknown,
  idempotencyKey?: string,
): Promise<string> {
  const response = await post(server, `/machines/${machine}`, { input }, idempotencyKey);
  return ((await response.json()) as { id: string }).id;
}

const LAST: Followed<RemoteSnapshot | null> = {
  initial: null,
  next: (_, data) => JSON.parse(data),
  isLast: (snapshot) => ['done', 'error', 'stopped'].includes(snapshot?.status ?? ''),
};

/**
 * Returns a reference to an actor of a durable machine that a server has under the name `machine`. `server` may be a function, which is called
 * for each request, so that a token may change.
 *
 * @example
 * const order = remoteActor<Order>({ url: '', token }, 'order', id);
 * const total = useSelector(order, (snapshot) => snapshot?.context.total);
 */
export function remoteActor<Context = unknown>(
  server: RunServer | (() => RunServer),
  machine: string,
  id: string,
): RemoteActor<Context> {
  const current = typeof server === 'function' ? server : () => server;
  const path = `/machines/${machine}/${encodeURIComponent(id)}/events`;
  const listeners = new Set<Listener<Context>>();
  let state: RemoteState<Context> = { snapshot: null, connection: 'connecting', error: null };
  let leaving: AbortController | null = null;
  let hasEnded = false;

  async function follow({ signal }: AbortController): Promise<void> {
    const last = { ...LAST, initial: state.snapshot };
    for await (const { value, ...connection } of followStream(current, path, last, signal)) {
      if (signal.aborted) return;
      state = { snapshot: value as RemoteSnapshot<Context> | null, ...connection };
      for (const { next } of listeners) next?.(state.snapshot);
    }
    if (signal.aborted) return;
    hasEnded = true;
    [...listeners].forEach(end);
  }

  function end({ error, complete }: Listener<Context>): void {
    if (state.error === null) complete?.();
    else error?.(state.error);
  }

  const send: RemoteActor['send'] = async (event, idempotencyKey) =>
    ((await (await post(current(), path, event, idempotencyKey)).json()) as { changed: boolean }).changed;

  return {
    id,
    getSnapshot: () => state.snapshot,
    getState: () => state,
    subscribe(given) {
      // A listener may subscribe several times.
      const listener = typeof given === 'function' ? { next: given } : { ...given };
      listeners.add(listener);
      if (leaving === null) {
        leaving = new AbortController();
        hasEnded = false;
        void follow(leaving);
      } else if (hasEnded) end(listener);
      return {
        unsubscribe() {
          listeners.delete(listener);
          if (listeners.size > 0) return;
          leaving?.abort();
          leaving = null;
        },
      };
    },
    send,
    answer: ({ id: asked, digest }, reply) => send({ type: 'approval.given', id: asked, digest, ...reply }),
  };
}
