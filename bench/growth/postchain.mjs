import { assertDone, startLongRun } from '../step/long-run.mjs';
import { MODEL_PHASES } from '../step/replies.mjs';
import { collectGarbage } from './collect-garbage.mjs';

const WARM_UP_CYCLES = 300;

/**
 * Measures microseconds per step within windows of one run, including garbage collection. A window lasts from the start of its first
 * cycle to the start of its last. The previous run is collected first, and the process is warmed up again: cold code or old garbage
 * would slow the early window and make the ratio look better.
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
      return [name, (elapsedMs * 1000) / ((to - from) * MODEL_PHASES.length)];
    }),
  );
}
