import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { collectGarbage } from '../growth/collect-garbage.mjs';
import { CALLS } from './calls.mjs';

/**
 * One sample in a process of its own, because the peak of a process's memory never falls: starts all runs at once, waits for them, and
 * sends the figures to its parent. With `weighs`, it measures the heap instead: it collects garbage again and again while the runs are in
 * flight, so that the times mean nothing.
 *
 * @typedef {object} LoadOptions
 * @property {string} module The contender; it exports `prepare(options)`.
 * @property {number} port
 * @property {number} runs
 * @property {number | null} deadlineMs
 * @property {number | null} maxConcurrentRuns
 * @property {boolean} weighs
 *
 * @typedef {object} LoadSample
 * @property {number} warmUpRuns The number of runs before the measurement.
 * @property {number} microseconds Per run.
 * @property {number} cpuMicroseconds Per run.
 * @property {number} startMicroseconds Per run: how long starting it blocks.
 * @property {number} peakBytes The peak of the resident set.
 * @property {number} heapBytes The highest heap per run above the idle heap: looked at every 10 ms and with garbage, or with `weighs` after
 *   full collections while no run has ended.
 * @property {number} looks How often the heap was looked at.
 * @property {number} keptBytes The heap that each finished run still takes.
 * @property {Record<'p50' | 'p99' | 'max', number>} delays Of the event loop, in microseconds.
 * @property {number} late The share of runs that ended more than a second after their deadline.
 * @property {number} lateCompleted The share of runs that did so and are `completed`.
 * @property {Record<string, number>} statuses
 */

const WARM_UP_RUNS = 10;

process.once('message', async (/** @type {LoadOptions} */ options) => {
  try {
    process.send?.({ sample: await measure(options) });
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
  process.disconnect();
});

/** @param {LoadOptions} options */
async function measure({ module, runs, deadlineMs, weighs, ...others }) {
  const { prepare } = await import(module);
  const { start, kept } = prepare({ deadlineMs, ...others });
  await Promise.all(Array.from({ length: WARM_UP_RUNS }, (_, at) => start(-1 - at)));
  const heapBefore = heapBytes();
  const delays = monitorEventLoopDelay();
  const heap = watchHeap(weighs);
  delays.enable();
  // The monitor records no delay before its first tick.
  await wait(50);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const pending = Array.from({ length: runs }, async (_, number) => {
    const begunAt = performance.now();
    const { status, calls } = await start(number);
    heap.endRun();
    return { status, calls, elapsedMs: performance.now() - begunAt };
  });
  const startMs = performance.now() - startedAt;
  const ended = await Promise.all(pending);
  const elapsedMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  // The monitor records a delay when it is over.
  await wait(50);
  delays.disable();
  const { highestBytes, looks } = heap.stop();
  const late = ended.filter(({ elapsedMs: ms }) => deadlineMs !== null && ms > deadlineMs + 1_000);
  /** @type {Record<string, number>} */
  const statuses = {};
  for (const { status } of ended) statuses[status] = (statuses[status] ?? 0) + 1;
  if (deadlineMs === null && !ended.every(({ status, calls }) => status === 'completed' && calls === CALLS.length))
    throw new Error(`expected ${runs} completed runs of ${CALLS.length} calls; received ${JSON.stringify(statuses)}`);
  await wait(100);
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  const keptBytes = (heapBytes() - heapBefore) / runs;
  if (kept === undefined) throw new Error('nothing is kept');
  return {
    warmUpRuns: WARM_UP_RUNS,
    microseconds: (elapsedMs * 1000) / runs,
    cpuMicroseconds: (user + system) / runs,
    startMicroseconds: (startMs * 1000) / runs,
    peakBytes,
    heapBytes: (highestBytes - heapBefore) / runs,
    looks,
    keptBytes,
    delays: {
      p50: delays.percentile(50) / 1000,
      p99: delays.percentile(99) / 1000,
      max: delays.max / 1000,
    },
    late: late.length / runs,
    lateCompleted: late.filter(({ status }) => status === 'completed').length / runs,
    statuses,
  };
}

/**
 * Watches the heap while runs are in flight: its size every 10 ms, or with `weighs` its size after a full collection until the first run
 * ends.
 *
 * @param {boolean} weighs
 */
function watchHeap(weighs) {
  let ended = 0;
  let highestBytes = 0;
  let looks = 0;
  const look = () => {
    if (weighs && ended > 0) return;
    const begunAt = performance.now();
    highestBytes = Math.max(highestBytes, weighs ? heapBytes() : process.memoryUsage().heapUsed);
    looks += 1;
    // Collections take about a tenth of the time, so that the runs proceed.
    timer = setTimeout(look, weighs ? 9 * (performance.now() - begunAt) : 10);
  };
  let timer = setTimeout(look, 10);
  return {
    endRun() {
      ended += 1;
    },
    stop() {
      clearTimeout(timer);
      return { highestBytes, looks };
    },
  };
}

function heapBytes() {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
