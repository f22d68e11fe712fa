import type { ActorLogic, ActorRef, ActorSystem, ActorSystemInfo, PromiseActorLogic, Snapshot } from 'xstate';
import type { CallError, CallEvent } from '../../machines/contracts/events.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';

/** A call out of the statecharts in progress: an actor that one of them invokes. */
export interface Activity {
  /** The name of the invoked actor (its `src`). */
  readonly actor: string;
  /** JSON. */
  readonly input: unknown;
  readonly isWaiting: () => boolean;
  readonly execute: (report: (event: CallEvent) => void) => void;
  readonly onEvent: (event: CallEvent) => void;
}

/** Decides who executes the activities of a run, and delivers their events to the chart. */
export interface ActivityDispatcher {
  /** Returns a function that releases the activity: its actor was stopped. */
  dispatch(activity: Activity): () => void;
  /** Whether a replayed journal has the next activity, and this actor started it. */
  readonly isRecorded?: (actor: string) => boolean;
}

/** Executes every activity at once and delivers its events at once. */
export const inlineDispatcher: ActivityDispatcher = {
  dispatch: (activity) => {
    activity.execute(activity.onEvent);
    return () => {};
  },
};

/** Returns the fields of an activity's input that the journal repeats: attempt and task of a model's reply, or the capability. */
export function callSubject(input: unknown): { attemptId?: string; task?: string; capability?: string } {
  const { attemptId, task, capability } = Object(input) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof attemptId === 'string' && { attemptId }),
    ...(typeof task === 'string' && { task }),
    ...(typeof capability === 'string' && { capability }),
  };
}

/** Returns the part of an error that a journal keeps and a chart reads. Activities run user code, so anything may be thrown. */
export function activityError(thrown: unknown): CallError {
  const { message } = unexpectedFailure(thrown);
  try {
    const { name, code, status, retryAfterMs } = Object(thrown) as Record<string, unknown>;
    return {
      name: typeof name === 'string' ? name : 'Error',
      message,
      ...(typeof code === 'string' && { code }),
      ...(typeof status === 'number' && { status }),
      ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && { retryAfterMs }),
    };
  } catch {
    return { name: 'Error', message };
  }
}

/** Returns the error a chart receives: the same one live and from a journal. */
function toError({ message, ...known }: CallError): Error {
  return Object.assign(new Error(message), known);
}

type ActivitySnapshot<Output, Input> = Snapshot<Output> & { readonly input: Input | undefined };
type Logic<Output, Input> = ActorLogic<ActivitySnapshot<Output, Input>, CallEvent, Input, ActorSystem<ActorSystemInfo>>;
type Self<Output, Input> = ActorRef<ActivitySnapshot<Output, Input>, CallEvent>;

export interface ActivityArgs<Input> {
  readonly input: Input;
  /** Aborts when the chart no longer waits for the result. */
  readonly signal: AbortSignal;
}

/**
 * Returns actor logic for an activity with one result. Its work starts with the actor; its outcome reaches the chart through the
 * dispatcher. To the machine it looks like `fromPromise`.
 */
export function promiseActivity<Output, Input>(
  actor: string,
  work: (args: ActivityArgs<Input>) => Promise<Output>,
  dispatcher: ActivityDispatcher,
): PromiseActorLogic<Output, Input> {
  const stops = new WeakMap<object, () => void>();
  const logic: Logic<Output, Input> = {
    ...outcomeTransitions<Output, Input>((self) => stops.get(self)?.()),
    getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
    start: ({ input, status }, { self }) => {
      if (status !== 'active') return;
      const controller = new AbortController();
      const release = dispatch({ actor, input }, self, dispatcher, () =>
        work({ input: input as Input, signal: controller.signal }),
      );
      stops.set(self, () => {
        release();
        controller.abort();
      });
    },
  };
  return logic as unknown as PromiseActorLogic<Output, Input>;
}

/**
 * Returns actor logic for work that is usually synchronous. If `work` returns a value, the actor is done before it starts, without a
 * turn of the event loop: synchronous work is deterministic, so nothing is dispatched or recorded. A returned promise becomes an
 * activity; a replay uses its recorded result and does not call `work`. An error that `work` throws is the actor's error.
 */
export function syncOrPromiseActivity<Output, Input>(
  actor: string,
  work: (input: Input) => Output | Promise<Output>,
  dispatcher: ActivityDispatcher,
): PromiseActorLogic<Output, Input> {
  const pending = new WeakMap<object, Promise<Output>>();
  const releases = new WeakMap<object, () => void>();
  const logic: Logic<Output, Input> = {
    ...outcomeTransitions<Output, Input>((self) => releases.get(self)?.()),
    getInitialSnapshot: (_, input) => {
      if (dispatcher.isRecorded?.(actor)) return { status: 'active', output: undefined, error: undefined, input };
      try {
        const given = work(input as Input);
        if (!(given instanceof Promise)) return { status: 'done', output: given, error: undefined, input };
        const snapshot = { status: 'active', output: undefined, error: undefined, input } as const;
        pending.set(snapshot, given);
        // The actor may already be stopped when it rejects.
        given.catch(() => {});
        return snapshot;
      } catch (error) {
        return { status: 'error', output: undefined, error, input };
      }
    },
    start: (snapshot, { self }) => {
      if (snapshot.status !== 'active') return;
      // A restored actor repeats its work, like one of fromPromise.
      const settle = async () => pending.get(snapshot) ?? work(snapshot.input as Input);
      releases.set(self, dispatch({ actor, input: snapshot.input }, self, dispatcher, settle));
    },
  };
  return logic as unknown as PromiseActorLogic<Output, Input>;
}

function dispatch<Output, Input>(
  { actor, input }: Pick<Activity, 'actor' | 'input'>,
  self: Self<Output, Input>,
  dispatcher: ActivityDispatcher,
  work: () => Promise<Output>,
): () => void {
  // A stopped actor can be started again, as React's StrictMode does. Its status is then `active` again, but this work stays aborted.
  let isStopped = false;
  const isWaiting = (): boolean => !isStopped && self.getSnapshot().status === 'active';
  const release = dispatcher.dispatch({
    actor,
    input,
    isWaiting,
    execute: (report) => {
      started(work).then(
        (output) => report({ type: 'done', output }),
        (error: unknown) => report({ type: 'failed', error: activityError(error) }),
      );
    },
    // XState prints events that a stopped actor receives, including the model's text: send none.
    onEvent: (event) => {
      if (isWaiting()) self.send(event);
    },
  });
  return () => {
    isStopped = true;
    release();
  };
}

/** Turns an error that is thrown before the promise exists into a rejection. */
function started<Output>(work: () => Promise<Output>): Promise<Output> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}

function outcomeTransitions<Output, Input>(
  stop: (self: object) => void,
): Pick<Logic<Output, Input>, 'transition' | 'getPersistedSnapshot' | 'restoreSnapshot'> {
  return {
    transition: (snapshot, event, { self }) => {
      if (snapshot.status !== 'active') return snapshot;
      if ((event as { type: string }).type === 'xstate.stop') {
        stop(self);
        return { ...snapshot, status: 'stopped', error: undefined };
      }
      if (event.type === 'done')
        return { ...snapshot, status: 'done', output: event.output as Output, error: undefined };
      if (event.type === 'failed')
        return { ...snapshot, status: 'error', output: undefined, error: toError(event.error) };
      return snapshot;
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as ActivitySnapshot<Output, Input>,
  };
}
