/**
 * Lets everything happen that needs no time: promises, streams, the steps of the machines. With a simulated clock, a run stands
 * still after it until the clock moves.
 */
export async function settle(turns = 20): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
