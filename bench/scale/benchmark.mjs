import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { against, row } from '../row.mjs';
import { measureParked } from './parked.mjs';
import { startProcesses } from './processes.mjs';
import { postgresFolder, startPostgres } from './server.mjs';

/**
 * What one contender does in one number of worker processes. Rates are per second, latencies in milliseconds.
 *
 * @typedef {object} Sample
 * @property {number} starts
 * @property {number} runs
 * @property {number} sends
 * @property {number} timers
 * @property {number} p50
 * @property {number} p99
 * @property {Record<'starts' | 'runs' | 'sends' | 'timers', number>} statements Per operation.
 */

const WORKERS = [1, 4, 16];
const POOL = 10;
/** How long each thing is measured, in milliseconds. */
const FOR_MS = 4_000;
/** After this long, the due delays that are left do not count. */
const TIMERS_MS = 15_000;

/** @type {Readonly<Record<string, { module: URL, pending: string, makeDue: string | null }>>} */
const CONTENDERS = {
  PostChain: {
    module: new URL('postchain.mjs', import.meta.url),
    pending: `SELECT count(*) FROM postchain_actors WHERE NOT ended AND name LIKE '"due-%'`,
    makeDue: null,
  },
  DBOS: {
    module: new URL('dbos.mjs', import.meta.url),
    pending: `SELECT count(*) FROM dbos.workflow_status WHERE workflow_uuid LIKE 'due-%' AND status <> 'SUCCESS'`,
    makeDue: `UPDATE dbos.workflow_status SET delay_until_epoch_ms = 0 WHERE status = 'DELAYED'`,
  },
};

/**
 * Measures one PostgreSQL server with 1, 4 and 16 worker processes, next to DBOS.
 *
 * @param {{ parked?: number }} options
 */
export async function measureScale({ parked = 200_000 }) {
  const folder = postgresFolder();
  if (folder === undefined) return skipped('initdb and postgres were not found; install PostgreSQL to measure it');
  const server = await startPostgres(folder);
  try {
    /** @type {Record<string, Sample>} */
    const samples = {};
    for (const workers of WORKERS)
      for (const name of Object.keys(CONTENDERS)) {
        process.stderr.write(`bench: scale: ${name}, ${workers} workers …\n`);
        samples[`${name} ${workers}`] = await measureWorkers(server, name, workers);
      }
    const many = parked === 0 ? { grids: [], rows: [], facts: {} } : await measureParked(server, parked);
    return {
      title: 'one PostgreSQL server with 1, 4 and 16 worker processes',
      grids: [...gridsOf(samples), ...many.grids],
      rows: [...rowsOf(samples), ...many.rows],
      facts: { PostgreSQL: server.version, 'connections per worker': POOL, ...many.facts },
    };
  } finally {
    await server.stop();
  }
}

/** @param {string} why */
function skipped(why) {
  process.stderr.write(`bench: scale is skipped: ${why}\n`);
  return { title: `skipped: ${why}`, rows: [], facts: {} };
}

/**
 * @param {Awaited<ReturnType<typeof startPostgres>>} server
 * @param {string} name
 * @param {number} workers
 * @returns {Promise<Sample>}
 */
async function measureWorkers(server, name, workers) {
  const { module, pending, makeDue } = /** @type {(typeof CONTENDERS)[string]} */ (CONTENDERS[name]);
  const database = `${name.toLowerCase()}${workers}`;
  const url = await server.createDatabase(database);
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  // Dropping the database, or stopping the server, may end the connection first.
  admin.on('error', () => {});
  const processes = await startProcesses(module, workers, { url, pool: POOL });
  const forMs = FOR_MS;
  try {
    await processes.run('runs', { forMs: 500 });
    const runs = rateOf(await processes.run('runs', { forMs }));
    const starts = rateOf(await processes.run('starts', { forMs }));
    const sends = rateOf(await processes.run('sends', { forMs }));
    const load = await processes.run('latencies', { forMs, perSecond: sends.perSecond / 2 / workers });
    const latencies = /** @type {number[][]} */ (load.results).flat().sort((a, b) => a - b);
    await processes.run('delayed', { forMs });
    const timers = await timersOf({ admin, processes, pending, makeDue });
    return {
      starts: starts.perSecond,
      runs: runs.perSecond,
      sends: sends.perSecond,
      timers: timers.perSecond,
      p50: at(latencies, 0.5),
      p99: at(latencies, 0.99),
      statements: {
        starts: starts.statements,
        runs: runs.statements,
        sends: sends.statements,
        timers: timers.statements,
      },
    };
  } finally {
    await processes.stop();
    await admin.end();
    await server.dropDatabase(database);
  }
}

/**
 * Measures how long the processes take for delays that are all due.
 *
 * @param {{ admin: pg.Pool, processes: Awaited<ReturnType<typeof startProcesses>>, pending: string, makeDue: string | null }} given
 */
async function timersOf({ admin, processes, pending, makeDue }) {
  const left = async () => Number((await admin.query(pending)).rows[0]?.count);
  const due = await left();
  const before = sum((await processes.run('count')).results);
  const startedAt = performance.now();
  if (makeDue === null) await processes.run('work');
  else await admin.query(makeDue);
  let rest = due;
  while (rest > 0 && performance.now() - startedAt < TIMERS_MS) {
    await wait(50);
    rest = await left();
  }
  const elapsedMs = performance.now() - startedAt;
  const statements = sum((await processes.run('count')).results) - before;
  return rateOf({ elapsedMs, statements, results: [due - rest] });
}

const sum = (/** @type {readonly unknown[]} */ counts) =>
  /** @type {number[]} */ (counts).reduce((total, count) => total + count, 0);

/** @param {{ elapsedMs: number, statements: number, results: readonly unknown[] }} measured */
const rateOf = ({ elapsedMs, statements, results }) => ({
  perSecond: (sum(results) * 1_000) / elapsedMs,
  statements: statements / sum(results),
});

/** @param {readonly number[]} sorted @param {number} share */
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

const one = (/** @type {number} */ value) => Math.round(value * 10) / 10;

/** @param {Record<string, Sample>} samples */
function gridsOf(samples) {
  const names = Object.entries(samples);
  return [
    {
      columns: [
        'workers',
        'starts/s',
        'runs of 3 steps/s',
        'sends/s',
        'due timers/s',
        'send at half load: p50',
        'p99 (ms)',
      ],
      lines: names.map(([name, { starts, runs, sends, timers, p50, p99 }]) => [
        name,
        ...[starts, runs, sends, timers].map(Math.round),
        ...[p50, p99].map(one),
      ]),
    },
    {
      columns: ['statements per', 'start', 'run of 3 steps', 'send', 'due timer'],
      lines: names.map(([name, { statements }]) => [
        name,
        ...[statements.starts, statements.runs, statements.sends, statements.timers].map(one),
      ]),
    },
  ];
}

/** @param {Record<string, Sample>} samples */
function rowsOf(samples) {
  const what = /** @type {const} */ ({
    starts: 'a start',
    runs: 'a run of three steps',
    sends: 'a send with its reply',
    timers: 'a due timer',
  });
  return WORKERS.flatMap((workers) =>
    /** @type {(keyof typeof what)[]} */ (Object.keys(what)).map((kind) => {
      const figure = (/** @type {string} */ name) =>
        row(`${what[kind]}, ${name}, ${workers} workers`, [
          1e6 / (samples[`${name} ${workers}`]?.[kind] ?? Number.NaN),
        ]);
      return against(figure('PostChain'), figure('DBOS'));
    }),
  );
}
