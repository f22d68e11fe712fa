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
  /** Ends the actor, with the status `stopped`: resolves to false if it had ended. Rejects as `send` does. */
  stop(): Promise<boolean>;
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

const hasEnded = (snapshot: Pick<RemoteSnapshot, 'status'> | null): boolean =>
  ['done', 'error', 'stopped'].includes(snapshot?.status ?? '');

/**
 * Returns a reference to an actor of a durable machine that a server has under the name `machine`. `server` may be a function, which is called
 * for each request, so that a token may change. `initialSnapshot` is its snapshot until the server has sent another one.
 *
 * @example
 * const order = remoteActor<Order>({ url: '', token }, 'order', id);
 * const total = useSelector(order, (snapshot) => snapshot?.context.total);
 */
export function remoteActor<Context = unknown>(
  server: RunServer | (() => RunServer),
  machine: string,
  id: string,
  initialSnapshot: RemoteSnapshot<Context> | null = null,
): RemoteActor<Context> {
  const current = typeof server === 'function' ? server : () => server;
  const path = `/machines/${machine}/${encodeURIComponent(id)}`;
  const listeners = new Set<Listener<Context>>();
  let state: RemoteState<Context> = {
    snapshot: initialSnapshot,
    connection: hasEnded(initialSnapshot) ? 'closed' : 'connecting',
    error: null,
  };
  let leaving: AbortController | null = null;
  let isOver = hasEnded(initialSnapshot);

  async function follow({ signal }: AbortController): Promise<void> {
    const states: Followed<RemoteSnapshot<Context> | null> = {
      initial: state.snapshot,
      next: (_, data) => JSON.parse(data),
      isLast: hasEnded,
    };
    for await (const { value: snapshot, ...connection } of followStream(current, `${path}/events`, states, signal)) {
      if (signal.aborted) return;
      state = { snapshot, ...connection };
      for (const { next } of listeners) next?.(state.snapshot);
    }
    if (signal.aborted) return;
    isOver = true;
    [...listeners].forEach(end);
  }

  function end({ error, complete }: Listener<Context>): void {
    if (state.error === null) complete?.();
    else error?.(state.error);
  }

  async function changes(to: 'events' | 'stop', body: object, idempotencyKey?: string): Promise<boolean> {
    const response = await post(current(), `${path}/${to}`, body, idempotencyKey);
    return ((await response.json()) as { changed: boolean }).changed;
  }

  const send: RemoteActor['send'] = (event, idempotencyKey) => changes('events', event, idempotencyKey);

  return {
    id,
    getSnapshot: () => state.snapshot,
    getState: () => state,
    subscribe(given) {
      // A listener may subscribe several times.
      const listener = typeof given === 'function' ? { next: given } : { ...given };
      listeners.add(listener);
      if (isOver && (leaving !== null || hasEnded(state.snapshot))) end(listener);
      else if (leaving === null) {
        leaving = new AbortController();
        isOver = false;
        void follow(leaving);
      }
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
    stop: () => changes('stop', {}),
    answer: ({ id: asked, digest }, reply) => send({ type: 'approval.given', id: asked, digest, ...reply }),
  };
}
