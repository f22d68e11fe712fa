import { onAbort } from '../../internal/async.ts';

/** Limits how many runs of a chain are active at a time. The others wait in order. */
export interface RunSlots {
  /** Calls `begin` as soon as a slot is free. Returns a function that leaves the slot or the queue. */
  enter(begin: () => void): () => void;
}

export function createRunSlots(maxConcurrentRuns: number): RunSlots {
  const queue = new Set<() => void>();
  let free = maxConcurrentRuns;

  function next(): void {
    const [begin] = queue;
    if (free === 0 || begin === undefined) return;
    free -= 1;
    queue.delete(begin);
    begin();
  }

  return {
    enter(begin) {
      let hasLeft = false;
      const entry = (): void => begin();
      queue.add(entry);
      next();
      return () => {
        if (hasLeft) return;
        hasLeft = true;
        if (queue.delete(entry)) return;
        free += 1;
        next();
      };
    },
  };
}

/** Starts a run when a slot is free, or when the signal aborts: then it starts interrupted. The run frees its slot when it leaves memory. */
export async function startInSlot<Run extends { readonly settled: Promise<unknown> }>(
  slots: RunSlots,
  signal: AbortSignal | undefined,
  start: () => Promise<Run>,
): Promise<Run> {
  let leave = (): void => {};
  let forgetSignal = (): void => {};
  await new Promise<void>((resolve) => {
    leave = slots.enter(resolve);
    if (signal?.aborted) resolve();
    else if (signal !== undefined) forgetSignal = onAbort(signal, resolve);
  });
  forgetSignal();
  try {
    const run = await start();
    run.settled.then(leave, leave);
    return run;
  } catch (error) {
    leave();
    throw error;
  }
}
