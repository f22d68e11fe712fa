import type { ActorLogic, ActorRef, ActorSystem, ActorSystemInfo, PromiseActorLogic, Snapshot } from 'xstate';
import type { CallError, CallEvent } from '../../machines/contracts/events.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';

/** A call out of the charts under way: an actor of one of their ports. */
export interface Activity {
  readonly port: string;
  /** What is asked: JSON. */
  readonly input: unknown;
  /** Whether the chart still waits for it: it may have gone on without. */
  readonly isWaiting: () => boolean;
  /** Asks the world, and tells what comes of it. */
  readonly execute: (tell: Report) => void;
  /** Gives the chart what came of it. */
  readonly onEvent: Report;
}

type Report = (event: CallEvent) => void;

/** Who conducts the calls of a run: sees to it that each is made, or is not, and that the chart hears what came of it. */
export interface ActivityDispatcher {
  /** Gives what lets go of the call: its actor was stopped. */
  dispatch(call: Activity): () => void;
}

/** Every call is made at once, and the chart hears of it at once. */
export const inlineDispatcher: ActivityDispatcher = {
  dispatch: (call) => {
    call.execute(call.onEvent);
    return () => {};
  },
};

/** What a call is about, where its input says so: the attempt and the task of a model's reply, the capability of a run. */
export function subjectOf(input: unknown): { attemptId?: string; task?: string; capability?: string } {
  const { attemptId, task, capability } = Object(input) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof attemptId === 'string' && { attemptId }),
    ...(typeof task === 'string' && { task }),
    ...(typeof capability === 'string' && { capability }),
  };
}

/** As much of an error as a journal keeps and a chart goes by. Ports are often the user's code: anything may be thrown. */
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

/** The error as a chart hears of it: the same whether it was thrown just now or stands in a journal. */
export function errorOf({ message, ...known }: CallError): Error {
  return Object.assign(new Error(message), known);
}

type Asked<Output, Input> = Snapshot<Output> & { readonly input: Input | undefined };
type Logic<Output, Input> = ActorLogic<Asked<Output, Input>, CallEvent, Input, ActorSystem<ActorSystemInfo>>;
type Self<Output, Input> = ActorRef<Asked<Output, Input>, CallEvent>;

/** What a port is asked with; the signal aborts where the chart goes on without the answer. */
export interface ActivityArgs<Input> {
  readonly input: Input;
  readonly signal: AbortSignal;
}

/**
 * A port of a chart that gives one answer, as actor logic: `ask` begins when the actor does, and what came of it reaches the chart by
 * way of the dispatcher. To the machine it is a `fromPromise`.
 */
export function promiseActivity<Output, Input>(
  port: string,
  ask: (question: ActivityArgs<Input>) => Promise<Output>,
  dispatcher: ActivityDispatcher,
): PromiseActorLogic<Output, Input> {
  const stops = new WeakMap<object, () => void>();
  const logic: Logic<Output, Input> = {
    ...answered<Output, Input>((self) => stops.get(self)?.()),
    getInitialSnapshot: (_, input) => ({ status: 'active', output: undefined, error: undefined, input }),
    start: ({ input, status }, { self }) => {
      if (status !== 'active') return;
      const controller = new AbortController();
      const release = begin({ port, input }, self, dispatcher, () =>
        ask({ input: input as Input, signal: controller.signal }),
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
 * The same for work that is mostly done at once: where `run` gives a value, the actor is done before it has begun, with no turn of the
 * event loop, and there is nothing to conduct: asked again it would say the same. Only a promise becomes a call. What it throws
 * is the actor's error.
 */
export function syncOrPromiseActivity<Output, Input>(
  port: string,
  run: (input: Input) => Output | Promise<Output>,
  dispatcher: ActivityDispatcher,
): PromiseActorLogic<Output, Input> {
  const pending = new WeakMap<object, Promise<Output>>();
  const releases = new WeakMap<object, () => void>();
  const logic: Logic<Output, Input> = {
    ...answered<Output, Input>((self) => releases.get(self)?.()),
    getInitialSnapshot: (_, input) => {
      try {
        const given = run(input as Input);
        if (!(given instanceof Promise)) return { status: 'done', output: given, error: undefined, input };
        const snapshot = { status: 'active', output: undefined, error: undefined, input } as const;
        pending.set(snapshot, given);
        // Nobody may wait for it any more when it rejects.
        given.catch(() => {});
        return snapshot;
      } catch (error) {
        return { status: 'error', output: undefined, error, input };
      }
    },
    start: (snapshot, { self }) => {
      if (snapshot.status !== 'active') return;
      // A restored actor starts its work again, like one of fromPromise.
      const work = async () => pending.get(snapshot) ?? run(snapshot.input as Input);
      releases.set(self, begin({ port, input: snapshot.input }, self, dispatcher, work));
    },
  };
  return logic as unknown as PromiseActorLogic<Output, Input>;
}

function begin<Output, Input>(
  { port, input }: Pick<Activity, 'port' | 'input'>,
  self: Self<Output, Input>,
  dispatcher: ActivityDispatcher,
  ask: () => Promise<Output>,
): () => void {
  const isWaiting = (): boolean => self.getSnapshot().status === 'active';
  return dispatcher.dispatch({
    port,
    input,
    isWaiting,
    execute: (tell) => {
      asked(ask).then(
        (output) => tell({ type: 'settled', output }),
        (error: unknown) => tell({ type: 'broken', error: activityError(error) }),
      );
    },
    // To an actor that was stopped nothing is sent: XState would print it, what a model said included.
    onEvent: (event) => {
      if (isWaiting()) self.send(event);
    },
  });
}

/** A port that throws before it gives a promise has rejected. */
function asked<Output>(ask: () => Promise<Output>): Promise<Output> {
  try {
    return ask();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** How such an actor hears of its answer. */
function answered<Output, Input>(
  stop: (self: object) => void,
): Pick<Logic<Output, Input>, 'transition' | 'getPersistedSnapshot' | 'restoreSnapshot'> {
  return {
    transition: (snapshot, event, { self }) => {
      if (snapshot.status !== 'active') return snapshot;
      if ((event as { type: string }).type === 'xstate.stop') {
        stop(self);
        return { ...snapshot, status: 'stopped', error: undefined };
      }
      if (event.type === 'settled')
        return { ...snapshot, status: 'done', output: event.output as Output, error: undefined };
      if (event.type === 'broken')
        return { ...snapshot, status: 'error', output: undefined, error: errorOf(event.error) };
      return snapshot;
    },
    getPersistedSnapshot: (snapshot) => snapshot,
    restoreSnapshot: (snapshot) => snapshot as Asked<Output, Input>,
  };
}
