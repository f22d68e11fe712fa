/** Waits until all promises, streams and machine steps that need no timer are done. With a simulated clock, a run then waits for its time. */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
