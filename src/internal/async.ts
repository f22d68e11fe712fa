/** Delays are in milliseconds. */
export interface Timers {
  setTimeout(fn: () => void, timeoutMs: number): unknown;
  clearTimeout(id: unknown): void;
}

type Callback = () => void;

const callbacks = new WeakMap<AbortSignal, Set<Callback>>();

/**
 * Calls `callback` when the signal aborts. Returns a function that takes the callback back.
 *
 * A signal gets one listener however many callbacks wait for it, and none when nobody waits. A signal that lives as long as a server
 * can therefore stop any number of runs without a leak warning from Node.
 */
export function onAbort(signal: AbortSignal, callback: Callback): () => void {
  const waiting = callbacks.get(signal) ?? listen(signal);
  waiting.add(callback);
  return () => {
    waiting.delete(callback);
    if (waiting.size > 0 || callbacks.get(signal) !== waiting) return;
    callbacks.delete(signal);
    signal.removeEventListener('abort', fire);
  };
}

function listen(signal: AbortSignal): Set<Callback> {
  const waiting = new Set<Callback>();
  callbacks.set(signal, waiting);
  signal.addEventListener('abort', fire, { once: true });
  return waiting;
}

function fire(this: AbortSignal): void {
  const waiting = callbacks.get(this) ?? new Set<Callback>();
  callbacks.delete(this);
  for (const callback of waiting) callback();
}

interface LinkedSignal {
  readonly signal: AbortSignal;
  readonly abort: (reason?: unknown) => void;
  readonly forget: () => void;
}

/**
 * Returns a signal that aborts when one of the signals does, with its reason, or on `abort()`. Unlike `AbortSignal.any`, it leaves
 * no listener on a long-lived signal after `forget()`.
 */
export function linkSignals(...signals: readonly (AbortSignal | undefined)[]): LinkedSignal {
  const controller = new AbortController();
  const abort = (reason?: unknown): void => controller.abort(reason);
  const forgets = signals.flatMap((signal) => {
    if (signal?.aborted) abort(signal.reason);
    return signal === undefined || signal.aborted ? [] : [onAbort(signal, () => abort(signal.reason))];
  });
  return { signal: controller.signal, abort, forget: () => void forgets.map((forget) => forget()) };
}

/** Settles like the promise, or rejects with the signal's reason if that aborts first. */
export async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let forget = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else forget = onAbort(signal, () => reject(signal.reason));
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    forget();
  }
}

/** Resolves to the values of promises, in order, with `late` for each that takes longer than `timeoutMs`. */
export async function settledWithin<Value>(
  promises: readonly Promise<Value>[],
  late: Value,
  { timeoutMs, timers, signal }: { readonly timeoutMs: number; readonly timers: Timers; readonly signal: AbortSignal },
): Promise<Value[]> {
  let stop = (): void => {};
  const timeout = new Promise<Value>((resolve) => {
    const timer = timers.setTimeout(() => resolve(late), timeoutMs);
    stop = () => timers.clearTimeout(timer);
  });
  const forget = onAbort(signal, stop);
  try {
    return await Promise.all(promises.map((promise) => Promise.race([promise, timeout])));
  } finally {
    stop();
    forget();
  }
}

/** Resolves in the next turn of the event loop, so that timers and I/O get their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** How long a loop over stored data may keep the event loop busy. */
const TURN_MS = 12;

/** Returns a function for such a loop: a promise to await if other work of the process, such as heartbeats, should run first. */
export function pauses(): () => Promise<void> | undefined {
  let startedAtMs = performance.now();
  return () => {
    if (performance.now() - startedAtMs < TURN_MS) return undefined;
    return nextTurn().then(() => {
      startedAtMs = performance.now();
    });
  };
}

/** Runs a generator to its end while other work of the process runs in between, and returns its result. */
export async function withPauses<Value>(steps: Generator<unknown, Value>): Promise<Value> {
  const pause = pauses();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const paused = pause();
    if (paused !== undefined) await paused;
  }
}

/** A computation that yields after each small part of its work. */
export type Steps<Value> = Generator<void, Value, void>;

/**
 * Runs a computation with a turn of the event loop after each step, so that timers and I/O get their turn. If the signal aborts, it runs no
 * further step and rejects with the signal's reason.
 */
export async function inTurns<Value>(steps: Steps<Value>, signal?: AbortSignal): Promise<Value> {
  for (;;) {
    signal?.throwIfAborted();
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/**
 * Applies `next` to a value, or to what a thenable of any library or realm resolves to. A plain value is mapped synchronously.
 * Errors are thrown or rejected accordingly.
 */
export function mapMaybePromise<Given, Mapped>(
  given: Given | PromiseLike<Given>,
  next: (value: Given) => Mapped,
): Mapped | Promise<Mapped> {
  return isThenable(given) ? Promise.resolve(given).then(next) : next(given);
}

/** Whether a value is a promise, of any library or realm. */
export function isThenable<Given>(given: Given | PromiseLike<Given>): given is PromiseLike<Given> {
  return typeof (given as PromiseLike<Given> | null | undefined)?.then === 'function';
}

/** Keeps a process alive from `begin` to `end`: Node ends one that only waits for a person. */
export function keepAlive(): { readonly begin: () => void; readonly end: () => void } {
  let timer: ReturnType<typeof setInterval> | undefined;
  let hasEnded = false;
  return {
    begin() {
      if (!hasEnded) timer ??= setInterval(() => {}, LONGEST_TIMER_MS);
    },
    end() {
      hasEnded = true;
      clearInterval(timer);
    },
  };
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Returns a promise whose rejection does not crash the process if it is never awaited. */
export function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  promise.catch(() => {});
  return { promise, resolve, reject };
}
