const TRIES = 100;
const WAIT_MS = 50;

/**
 * Does something with a file that another process may hold, and again while it does: for about ten seconds, without blocking this
 * process in between. Rejects when the signal aborts.
 */
export async function whileBusy<Value>(act: () => Value | Promise<Value>, signal?: AbortSignal): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      return await act();
    } catch (error) {
      if (!isBusy(error) || tries >= TRIES) throw error;
    }
    const { setTimeout: sleep } = await import('node:timers/promises');
    await sleep(WAIT_MS, undefined, signal && { signal });
  }
}

function isBusy(error: unknown): boolean {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' && /^SQLITE_(BUSY|LOCKED)/.test(code);
}
