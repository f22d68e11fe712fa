import { measurePackages } from '../packages/benchmark.mjs';
import { race } from '../race.mjs';
import { against, median, row, withinLimit } from '../row.mjs';
import { CALLS } from './calls.mjs';
import { sample, startServer } from './sample.mjs';

/** @typedef {import('../row.mjs').Row} Row */
/** @typedef {Awaited<ReturnType<typeof sample>>} Sample */
/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */
/** @typedef {Record<keyof typeof CONTENDERS, { timed: Sample[], weighed: Sample[] }>} Samples */
/** @typedef {{ heap: number, resident: number, partials: number, stopped: boolean }} StreamSample */

/** How many runs start at once, and how often each contender is timed. */
const LOADS = [
  { runs: 200, rounds: 3 },
  { runs: 1_000, rounds: 3 },
  { runs: 3_000, rounds: 1 },
];
/** The modules of the contenders. */
const CONTENDERS = { PostChain: 'postchain', 'LangGraph.js': 'langgraph', 'AI SDK': 'ai-sdk' };
const NAMES = /** @type {(keyof typeof CONTENDERS)[]} */ (Object.keys(CONTENDERS));
const DEADLINE_MS = 20_000;
/** The limits for memory apply to this many runs. */
const LIMITED_RUNS = 1_000;
const STREAMS = { streams: 3, chars: 110_000, stopAtBytes: 2e9 };

/** Measures many runs at once, three long replies at once, and the weight of the packages. */
export async function measureLoad() {
  const rows = [];
  /** @type {Record<string, unknown>} */
  const facts = {};
  const server = await startServer();
  try {
    for (const { runs, rounds } of LOADS) {
      const samples = await samplesOf(server, runs, rounds);
      rows.push(...runRows(runs, samples));
      Object.assign(facts, runFacts(runs, samples));
    }
    Object.assign(facts, await deadlineFacts(server, 3_000));
  } finally {
    server.stop();
  }
  const streams = await measureStreams();
  return {
    title: `many runs at once, each with ${CALLS.length} streamed calls; three long replies at once; packages`,
    rows: [...rows, ...streams.rows, ...(await measurePackages())],
    facts: { ...facts, ...streams.facts },
  };
}

/**
 * Measures the contenders in turns: their times in each round, and then the heap that their runs hold.
 *
 * @param {Server} server
 * @param {number} runs
 * @param {number} rounds
 */
async function samplesOf(server, runs, rounds) {
  const samples = /** @type {Samples} */ (
    /** @type {unknown} */ (Object.fromEntries(NAMES.map((name) => [name, { timed: [], weighed: [] }])))
  );
  for (let round = 0; round < rounds; round += 1)
    for (const name of NAMES) samples[name].timed.push(await sample(CONTENDERS[name], { server, runs }));
  for (const name of NAMES) samples[name].weighed.push(await sample(CONTENDERS[name], { server, runs, weighs: true }));
  return samples;
}

/**
 * @param {number} runs
 * @param {Samples} samples
 */
function runRows(runs, samples) {
  /** @type {(what: string, of: (samples: Samples[keyof Samples]) => number[], unit?: 'bytes') => readonly [Row, Row, Row]} */
  const rowsOf = (what, of, unit) => {
    const one = (/** @type {keyof Samples} */ name) => row(`${what}, ${runs} runs, ${name}`, of(samples[name]), unit);
    return [one('PostChain'), one('LangGraph.js'), one('AI SDK')];
  };
  const isLimited = runs === LIMITED_RUNS;
  const time = rowsOf('time per run', ({ timed }) => timed.map(({ microseconds }) => microseconds));
  const delay = rowsOf('event-loop delay, p99', ({ timed }) => timed.map(({ delays }) => delays.p99));
  const held = rowsOf(
    'heap per run in flight, collected',
    ({ weighed }) => weighed.map(({ heapBytes }) => heapBytes),
    'bytes',
  );
  const heap = rowsOf(
    'heap per run in flight, peak with garbage',
    ({ timed }) => timed.map(({ heapBytes }) => heapBytes),
    'bytes',
  );
  const resident = rowsOf('peak of the resident set', ({ timed }) => timed.map(({ peakBytes }) => peakBytes), 'bytes');
  const kept = rowsOf('heap kept per run', ({ timed }) => timed.map(({ keptBytes }) => keptBytes), 'bytes');
  return [
    ...compared(time, against(time[0], time[1], { limit: 1 })),
    ...compared(delay, withinLimit(delay[0], '50 ms', 50_000)),
    ...compared(held, isLimited ? withinLimit(held[0], '0.3 MB', 300_000) : held[0]),
    ...compared(heap, heap[0]),
    ...compared(resident, against(resident[0], resident[1], isLimited ? { limit: 1 } : {})),
    ...compared(kept, kept[0]),
  ];
}

/**
 * Returns the rows with the ratios of the others to the first one, which is replaced by `own`.
 *
 * @param {readonly [Row, ...Row[]]} rows
 * @param {Row} own
 */
function compared([first, ...others], own) {
  return [own, ...others.map((other) => against(other, first))];
}

/**
 * @param {number} runs
 * @param {Samples} samples
 */
function runFacts(runs, samples) {
  const each = (/** @type {(samples: Samples[keyof Samples]) => string} */ format) =>
    NAMES.map((name) => `${name} ${format(samples[name])}`).join(', ');
  const ms = (/** @type {Sample[]} */ timed, /** @type {keyof Sample['delays']} */ key) =>
    (median(timed.map(({ delays }) => delays[key])) / 1_000).toFixed(0);
  return {
    [`runs per second, ${runs} runs`]: each(({ timed }) =>
      median(timed.map(({ microseconds }) => 1e6 / microseconds)).toFixed(1),
    ),
    [`event-loop delay p50/p99/max, ${runs} runs (ms)`]: each(
      ({ timed }) => `${ms(timed, 'p50')}/${ms(timed, 'p99')}/${ms(timed, 'max')}`,
    ),
    [`CPU time per run, ${runs} runs (ms)`]: each(({ timed }) =>
      (median(timed.map(({ cpuMicroseconds }) => cpuMicroseconds)) / 1_000).toFixed(1),
    ),
    [`collections while all runs are in flight, ${runs} runs`]: each(({ weighed }) => String(weighed[0]?.looks)),
    [`bytes per request, ${runs} runs`]: each(({ timed }) =>
      median(timed.map(({ requestBytes }) => requestBytes)).toFixed(0),
    ),
  };
}

/**
 * @param {Server} server
 * @param {number} runs
 */
async function deadlineFacts(server, runs) {
  const hurried = await sample(CONTENDERS.PostChain, { server, runs, deadlineMs: DEADLINE_MS });
  const queued = await sample(CONTENDERS.PostChain, { server, runs, deadlineMs: DEADLINE_MS, maxConcurrentRuns: 50 });
  return {
    [`${runs} runs with a deadline of ${DEADLINE_MS / 1_000} s`]: JSON.stringify(hurried.statuses),
    'share that answered more than a second late': hurried.late,
    'share that did so and is completed': hurried.lateCompleted,
    'the same with maxConcurrentRuns 50': JSON.stringify(queued.statuses),
  };
}

/** Measures the memory of three long structured replies that stream at once. */
async function measureStreams() {
  const { streams, chars, stopAtBytes } = STREAMS;
  const contenders = { PostChain: 'postchain.mjs', 'AI SDK': 'object-stream.mjs' };
  /** @type {Record<string, StreamSample[]>} */
  const measured = await race(
    Object.entries(contenders).map(([name, contender]) => ({
      name,
      lane: name,
      module: new URL('../structured/memory.mjs', import.meta.url),
      options: { contender, ...STREAMS },
    })),
    { rounds: 1, warmUps: 0 },
  );
  const rowOf = (/** @type {string} */ name, /** @type {'heap' | 'resident'} */ key) => {
    const stopped = measured[name]?.[0]?.stopped === true ? ' (stopped)' : '';
    const what = key === 'heap' ? 'peak heap' : 'peak of the resident set';
    return row(
      `${what} above idle, ${streams} replies of ${chars / 1_000} kB, ${name}${stopped}`,
      (measured[name] ?? []).map((one) => one[key]),
      'bytes',
    );
  };
  const resident = rowOf('PostChain', 'resident');
  const heap = rowOf('PostChain', 'heap');
  return {
    rows: [
      withinLimit(resident, '50 MB', 50e6),
      against(rowOf('AI SDK', 'resident'), resident),
      heap,
      against(rowOf('AI SDK', 'heap'), heap),
    ],
    facts: {
      [`partial values read, stopped at ${stopAtBytes / 1e9} GB`]: Object.entries(measured)
        .map(([name, samples]) => `${name} ${samples[0]?.partials}`)
        .join(', '),
    },
  };
}
