import { against, row } from '../row.mjs';
import { sample, startServer } from './sample.mjs';

/** @typedef {import('./process.mjs').LoadSample} LoadSample */

const RUNS = /** @type {const} */ ([200, 1_000, 3_000]);
const DEADLINE_MS = 20_000;
/** The allowed ratios to LangGraph.js. */
const LIMITS = { time: { 3000: 1 }, memory: { 1000: 1 } };

/** Measures many runs at once: seven streamed calls each on a server in another process, with the state kept in memory. */
export async function measureLoad() {
  const { port, stop } = await startServer();
  const rows = [];
  /** @type {Record<string, unknown>} */
  const facts = {};
  try {
    for (const runs of RUNS) {
      const peer = await sample('langgraph', { port, runs });
      const own = await sample('postchain', { port, runs });
      rows.push(...compared(runs, own, peer));
      facts[`longest time without a timer, ${runs} runs (s)`] =
        `PostChain ${seconds(own.timerGapMicroseconds)}, LangGraph.js ${seconds(peer.timerGapMicroseconds)}`;
    }
    const runs = 3_000;
    const hurried = await sample('postchain', { port, runs, deadlineMs: DEADLINE_MS });
    facts[`${runs} runs with a deadline of ${DEADLINE_MS / 1_000} s`] = JSON.stringify(hurried.statuses);
    facts['share that answered more than a second late'] = hurried.late;
    facts['share that did so and is completed'] = hurried.lateCompleted;
    const queued = await sample('postchain', { port, runs, deadlineMs: DEADLINE_MS, maxConcurrentRuns: 50 });
    facts['the same with maxConcurrentRuns 50'] = JSON.stringify(queued.statuses);
  } finally {
    stop();
  }
  return { title: 'many runs at once, each with seven streamed calls', rows, facts };
}

/**
 * @param {typeof RUNS[number]} runs
 * @param {LoadSample} own
 * @param {LoadSample} peer
 */
function compared(runs, own, peer) {
  /** @type {(what: string, key: 'microseconds' | 'peakBytes' | 'keptBytes', unit?: 'bytes') => [import('../row.mjs').Row, import('../row.mjs').Row]} */
  const pair = (what, key, unit) => [
    row(`${what}, ${runs} runs, PostChain`, [own[key]], unit),
    row(`${what}, ${runs} runs, LangGraph.js`, [peer[key]], unit),
  ];
  /** @type {(limits: Readonly<Record<number, number>>) => { limit?: number }} */
  const bound = (limits) => (limits[runs] === undefined ? {} : { limit: limits[runs] });
  const [time, peerTime] = pair('time per run', 'microseconds');
  const [peak, peerPeak] = pair('peak of the resident set', 'peakBytes', 'bytes');
  const [kept, peerKept] = pair('heap kept per run', 'keptBytes', 'bytes');
  return [
    against(time, peerTime, bound(LIMITS.time)),
    peerTime,
    against(peak, peerPeak, bound(LIMITS.memory)),
    peerPeak,
    against(kept, peerKept),
    peerKept,
  ];
}

const seconds = (/** @type {number} */ microseconds) => (microseconds / 1_000_000).toFixed(2);
