import { linkSignals } from '../../internal/async.ts';

/** `signal` aborts with the caller's; `release` ends whatever still hangs on it and leaves no listener behind. */
interface LinkedSignal {
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * A signal for one call. The openai client and `fetch` leave their listeners on the signal they are given, so they never get the
 * caller's, which may live as long as the program.
 */
export function linkedSignal(caller: AbortSignal): LinkedSignal {
  const { signal, abort, forget } = linkSignals(caller);
  return {
    signal,
    release: () => {
      forget();
      abort();
    },
  };
}
