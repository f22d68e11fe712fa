type Act = () => void;

const waiting = new WeakMap<AbortSignal, Set<Act>>();

/**
 * Acts when the signal aborts; gives what takes that back. However many wait for one signal, it has one listener of ours, and none
 * when nobody waits: a signal that lives as long as a server stops any number of runs, and Node sees no leak in it.
 */
export function onAbort(signal: AbortSignal, act: Act): () => void {
  const acts = waiting.get(signal) ?? listen(signal);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size > 0 || waiting.get(signal) !== acts) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', fire);
  };
}

function listen(signal: AbortSignal): Set<Act> {
  const acts = new Set<Act>();
  waiting.set(signal, acts);
  signal.addEventListener('abort', fire, { once: true });
  return acts;
}

function fire(this: AbortSignal): void {
  const acts = waiting.get(this) ?? new Set<Act>();
  waiting.delete(this);
  for (const act of acts) act();
}

export interface Deadline {
  readonly signal: AbortSignal;
  /** Takes back what waits. */
  forget(): void;
}

/** Aborts after so many milliseconds, and when one of the signals does, with its reason. */
export function deadline(timeoutMs: number, ...signals: readonly (AbortSignal | undefined)[]): Deadline {
  const { abort, signal, forget } = linked(...signals);
  const timer = setTimeout(() => abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  return {
    signal,
    forget: () => {
      clearTimeout(timer);
      forget();
    },
  };
}

/**
 * Aborts when one of the signals does, with its reason, or when it is told to. Unlike `AbortSignal.any`, and unlike what clients leave on
 * a signal they are given, it leaves nothing at signals that live long.
 */
export function linked(
  ...signals: readonly (AbortSignal | undefined)[]
): Deadline & { readonly abort: (reason?: unknown) => void } {
  const controller = new AbortController();
  const abort = (reason?: unknown): void => controller.abort(reason);
  const forgets = signals.flatMap((signal) => {
    if (signal?.aborted) abort(signal.reason);
    return signal === undefined || signal.aborted ? [] : [onAbort(signal, () => abort(signal.reason))];
  });
  return { signal: controller.signal, abort, forget: () => void forgets.map((forget) => forget()) };
}

/** The promise's outcome, or the signal's reason where it aborts first. */
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

/** Lets timers and input have their turn before the work goes on. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/**
 * What `next` makes of something that may be a promise, of whatever library or realm: at once where it is none. What is thrown or
 * rejected on the way is thrown or rejected.
 */
export function mapMaybePromise<Given, Made>(
  given: Given | PromiseLike<Given>,
  next: (value: Given) => Made,
): Made | Promise<Made> {
  return isThenable(given) ? Promise.resolve(given).then(next) : next(given);
}

function isThenable<Given>(given: Given | PromiseLike<Given>): given is PromiseLike<Given> {
  return typeof (given as PromiseLike<Given> | null | undefined)?.then === 'function';
}
