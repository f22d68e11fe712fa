/**
 * Waits until everything that needs no time has happened: promises, streams and machine steps. With a simulated clock, a run then stands still
 * until the clock advances.
 */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
