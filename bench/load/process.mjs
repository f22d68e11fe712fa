import { setTimeout as wait } from 'node:timers/promises';
import { collectGarbage } from '../growth/collect-garbage.mjs';

/**
 * One sample in a process of its own, because the peak of a process's memory never falls: starts all runs at once, waits for them, and
 * sends the figures to its parent.
 *
 * @typedef {object} LoadOptions
 * @property {string} module The contender; it exports `prepare(options)`.
 * @property {number} port
 * @property {number} runs
 * @property {number | null} deadlineMs
 * @property {number | null} maxConcurrentRuns
 *
 * @typedef {object} LoadSample
 * @property {number} microseconds Per run.
 * @property {number} cpuMicroseconds Per run.
 * @property {number} startMicroseconds Per run: how long starting it blocks.
 * @property {number} peakBytes The peak of the resident set.
 * @property {number} keptBytes The heap that each finished run still takes.
 * @property {number} timerGapMicroseconds The longest time between two ticks of a timer of 10 ms.
 * @property {number} late The share of runs that ended more than a second after their deadline.
 * @property {number} lateCompleted The share of runs that did so and are `completed`.
 * @property {Record<string, number>} statuses
 */
process.once('message', async (/** @type {LoadOptions} */ options) => {
  try {
    process.send?.({ sample: await measure(options) });
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  process.disconnect();
});

/** @param {LoadOptions} options */
async function measure({ module, runs, deadlineMs, ...others }) {
  const { prepare } = await import(module);
  const { start, kept } = prepare({ deadlineMs, ...others });
  await Promise.all(Array.from({ length: 10 }, (_, at) => start(-1 - at)));
  collectGarbage();
  const heapBefore = process.memoryUsage().heapUsed;
  const gap = watchTimers();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const pending = Array.from({ length: runs }, async (_, number) => {
    const begunAt = performance.now();
    const { status, calls } = await start(number);
    return { status, calls, elapsedMs: performance.now() - begunAt };
  });
  const startMs = performance.now() - startedAt;
  const ended = await Promise.all(pending);
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const timerGapMs = gap();
  const late = ended.filter(({ elapsedMs: ms }) => deadlineMs !== null && ms > deadlineMs + 1_000);
  /** @type {Record<string, number>} */
  const statuses = {};
  for (const { status } of ended) statuses[status] = (statuses[status] ?? 0) + 1;
  if (deadlineMs === null && !ended.every(({ status, calls }) => status === 'completed' && calls === 7))
    throw new Error(`expected ${runs} completed runs of 7 calls; received ${JSON.stringify(statuses)}`);
  await wait(100);
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  collectGarbage();
  const keptBytes = (process.memoryUsage().heapUsed - heapBefore) / runs;
  if (kept === undefined) throw new Error('nothing is kept');
  return {
    microseconds: (elapsedMs * 1000) / runs,
    cpuMicroseconds: (user + system) / runs,
    startMicroseconds: (startMs * 1000) / runs,
    peakBytes,
    keptBytes,
    timerGapMicroseconds: timerGapMs * 1000,
    late: late.length / runs,
    lateCompleted: late.filter(({ status }) => status === 'completed').length / runs,
    statuses,
  };
}

/** Returns a function that stops watching and returns the longest time between two ticks, in milliseconds. */
function watchTimers() {
  let last = performance.now();
  let longestMs = 0;
  const tick = () => {
    const now = performance.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  const timer = setInterval(tick, 10);
  return () => {
    clearInterval(timer);
    tick();
    return longestMs;
  };
}
