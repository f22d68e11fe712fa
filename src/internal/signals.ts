import { onAbort } from './on-abort.ts';

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
