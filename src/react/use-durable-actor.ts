import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { RunServer } from './connection.ts';
import { type RemoteActor, type RemoteSnapshot, type RemoteState, remoteActor, startActor } from './remote-actor.ts';

/** An actor of a server as React state, and functions to control it, which reject with an `HttpError`. They change only with the id. */
export interface UseDurableActorResult<Context>
  extends RemoteState<Context>,
    Pick<RemoteActor, 'send' | 'answer' | 'stop'> {
  /** Starts an actor and resolves to its id. A repeated call with the same idempotency key returns the same actor. */
  start(input?: unknown, idempotencyKey?: string): Promise<string>;
}

const IDLE: RemoteState<never> = { snapshot: null, connection: 'idle', error: null };

const nothing = async (): Promise<never> => {
  throw new Error('Cannot send an event or stop: id is null. Start an actor first.');
};

/**
 * Follows an actor of a durable machine that a server has under the name `machine`, while the component is mounted. If `id` is null, use
 * `start` to start one. `initialSnapshot` is shown until the server has responded, for example a snapshot from server-side rendering.
 *
 * @example
 * const [id, setId] = useState<string | null>(null);
 * const { snapshot, start, send } = useDurableActor<Order>({ url: '' }, 'order', id);
 */
export function useDurableActor<Context = unknown>(
  server: RunServer,
  machine: string,
  id: string | null,
  initialSnapshot: RemoteSnapshot<Context> | null = null,
): UseDurableActorResult<Context> {
  const latest = useRef(server);
  useEffect(() => {
    latest.current = server;
  });
  const { url, token } = server;
  const initial = initialSnapshot?.id === id ? initialSnapshot : null;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another server or token may answer differently; the first snapshot counts once
  const actor = useMemo(
    () => (id === null ? null : remoteActor<Context>(() => latest.current, machine, id, initial)),
    [url, token, machine, id],
  );
  const subscribe = useCallback(
    (onChange: () => void) => {
      const subscription = actor?.subscribe(onChange);
      return () => subscription?.unsubscribe();
    },
    [actor],
  );
  const getState = (): RemoteState<Context> => actor?.getState() ?? IDLE;
  const state = useSyncExternalStore(subscribe, getState, getState);
  const start = useCallback(
    (input?: unknown, idempotencyKey?: string) => startActor(latest.current, machine, input, idempotencyKey),
    [machine],
  );
  return {
    ...state,
    start,
    send: actor?.send ?? nothing,
    answer: actor?.answer ?? nothing,
    stop: actor?.stop ?? nothing,
  };
}
