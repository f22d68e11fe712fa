import { assertDone, startLongRun } from '../step/long-run.mjs';
import { PHASES } from '../step/replies.mjs';
import { collectGarbage } from './collect-garbage.mjs';

const WARM_UP_CYCLES = 300;

/**
 * Microseconds a step within windows of one run, the collector's work included. A window is from the beginning of its first
 * cycle to that of its last. The run before is collected first and the process warmed again: neither cold code nor somebody
 * else's garbage makes the early window dear, which would flatter the ratio.
 *
 * @param {{ cycles: number, windows: Readonly<Record<string, readonly [number, number]>> }} options
 * @returns {Promise<Record<string, number>>}
 */
export async function measure({ cycles, windows }) {
  collectGarbage();
  await startLongRun(WARM_UP_CYCLES).answer;
  const begunAtMs = new Float64Array(cycles + 1);
  const run = startLongRun(cycles, (cycle) => {
    begunAtMs[cycle] = performance.now();
  });
  await assertDone(run, cycles);
  return Object.fromEntries(
    Object.entries(windows).map(([name, [from, to]]) => {
      const elapsedMs = (begunAtMs[to] ?? Number.NaN) - (begunAtMs[from] ?? Number.NaN);
      return [name, (elapsedMs * 1000) / ((to - from) * PHASES.length)];
    }),
  );
}
