import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { against, row } from '../row.mjs';
import { customerAt, WEEK_MS } from './machine.mjs';
import { startProcesses } from './processes.mjs';

const POOL = 10;
/** How many of them are woken; fewer in trials with few actors. */
const dueOf = (/** @type {number} */ parked) => Math.min(1_000, Math.ceil(parked / 20));
/** How often a list is measured. */
const LOOKS = 11;
const moduleOf = (/** @type {string} */ name) => new URL(`${name}.mjs`, import.meta.url);

/** Measures one worker process beside many waiting and a tenth as many ended actors. */
export async function measureParked(/** @type {Server} */ server, /** @type {number} */ parked) {
  /** @type {Record<string, Figures>} */
  const figures = {};
  for (const name of ['PostChain', 'DBOS']) {
    process.stderr.write(`bench: scale: ${name}, ${parked.toLocaleString('en')} waiting …\n`);
    figures[name] = await measureOne(server, name, parked);
  }
  const { PostChain, DBOS } = /** @type {{ PostChain: Figures, DBOS: Figures }} */ (figures);
  const rows = /** @type {(keyof Figures)[]} */ (['list', 'where', 'wake', 'remove']).map((key) =>
    against(row(`${WHAT[key]}, PostChain`, PostChain[key]), row(`${WHAT[key]}, DBOS`, DBOS[key])),
  );
  const bytes = against(row('worker, PostChain', PostChain.memory, 'bytes'), row('worker, DBOS', DBOS.memory, 'bytes'));
  const facts = {
    waiting: parked,
    ended: parked / 10,
    'fill, PostChain (s)': PostChain.fill[0],
    'fill, DBOS (s)': DBOS.fill[0],
  };
  return { grids: [], rows: [...rows, bytes], facts };
}

/**
 * @typedef {{ createDatabase(name: string): Promise<string>, dropDatabase(name: string): Promise<unknown> }} Server
 * @typedef {Record<'list' | 'where' | 'wake' | 'remove' | 'memory' | 'fill', number[]>} Figures Microseconds, bytes, and seconds for `fill`.
 */

/** @type {Readonly<Record<string, string>>} */
const WHAT = {
  list: 'the newest 50 of many waiting',
  where: "one of 10,000 customers' orders",
  wake: 'waking one of a thousand due among many waiting',
  remove: 'deleting one of many ended',
};

/**
 * @param {Server} server
 * @param {string} name
 * @param {number} parked
 * @returns {Promise<Figures>}
 */
async function measureOne(server, name, parked) {
  const database = `${name.toLowerCase()}_parked`;
  const url = await server.createDatabase(database);
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  // Dropping the database, or stopping the server, may end the connection first.
  admin.on('error', () => {});
  const isOwn = name === 'PostChain';
  const filledAt = performance.now();
  if (isOwn) await fillPostChain(url, parked);
  const worker = await startProcesses(moduleOf(name.toLowerCase()), 1, { url, pool: POOL });
  try {
    if (!isOwn) await fillDbos(admin, worker, parked);
    await admin.query('VACUUM ANALYZE');
    const fill = [Math.round((performance.now() - filledAt) / 1_000)];
    /** @param {'list' | 'where'} task @param {number} at */
    const look = async (task, at) => (await worker.run(task, { customer: customerAt(at) })).elapsedMs * 1_000;
    const list = [];
    const where = [];
    for (let at = 0; at < LOOKS; at += 1) {
      list.push(await look('list', at));
      where.push(await look('where', at));
    }
    const startedAt = performance.now();
    if (isOwn) await worker.run('work');
    else
      await admin.query(`UPDATE dbos.workflow_status SET delay_until_epoch_ms = 0 WHERE workflow_uuid IN
        (SELECT workflow_uuid FROM dbos.workflow_status WHERE status = 'DELAYED' ORDER BY created_at LIMIT ${dueOf(parked)})`);
    const left = isOwn
      ? `SELECT count(*) FROM postchain_actors WHERE state <> 'ended' AND due < ${Date.now()}`
      : `SELECT count(*) FROM dbos.workflow_status WHERE status IN ('ENQUEUED', 'PENDING')
          OR (status = 'DELAYED' AND delay_until_epoch_ms = 0)`;
    while (Number((await admin.query(left)).rows[0].count) > 0) await wait(20);
    const wake = [((performance.now() - startedAt) * 1_000) / dueOf(parked)];
    const memory = /** @type {number[]} */ ((await worker.run('memory')).results);
    await worker.run('rest');
    const removed = await worker.run('remove');
    return { list, where, wake, memory, fill, remove: [(removed.elapsedMs * 1_000) / Number(removed.results[0])] };
  } finally {
    await worker.stop();
    await admin.end();
    await server.dropDatabase(database);
  }
}

/** @param {string} url @param {number} parked */
async function fillPostChain(url, parked) {
  const filling = await startProcesses(moduleOf('fill'), 1, { url, pool: 2 });
  const now = Date.now();
  const fill = (/** @type {object} */ options) => filling.run('fill', { from: 0, ...options });
  try {
    await fill({ prefix: 'due', to: dueOf(parked), kind: 'due', startedAtMs: now - 2 * WEEK_MS });
    await fill({ prefix: 'ended', to: parked / 10, kind: 'steps', startedAtMs: now - 2 * WEEK_MS });
    await fill({ prefix: 'waiting', to: parked, kind: 'open', startedAtMs: now - WEEK_MS / 2 });
  } finally {
    await filling.stop();
  }
}

/**
 * Copies the rows of one delayed and one ended workflow.
 *
 * @param {pg.Pool} admin
 * @param {Awaited<ReturnType<typeof startProcesses>>} worker
 * @param {number} parked
 */
async function fillDbos(admin, worker, parked) {
  await worker.run('delayed', { forMs: 1 });
  await worker.run('runs', { forMs: 1 });
  await copyWorkflows(admin, 'due-0-0', parked + dueOf(parked));
  await copyWorkflows(admin, 'run-0-1-0', parked / 10);
}

/** @param {pg.Pool} admin @param {string} id @param {number} count */
async function copyWorkflows(admin, id, count) {
  for (const table of ['workflow_status', 'workflow_input', 'workflow_output', 'operation_outputs']) {
    const { rows } = await admin.query(
      `SELECT column_name FROM information_schema.columns WHERE table_schema = 'dbos' AND table_name = $1 AND is_generated = 'NEVER'`,
      [table],
    );
    const columns = rows.map(({ column_name }) => String(column_name));
    const values = columns.map(
      (column) =>
        ({
          workflow_uuid: `workflow_uuid || '-' || number`,
          created_at: 'created_at + 10 * number',
          attributes: `jsonb_build_object('customer', 'c-' || number % 10000)`,
        })[column] ?? `"${column}"`,
    );
    await admin.query(
      `INSERT INTO dbos.${table} (${columns.map((column) => `"${column}"`).join(', ')})
        SELECT ${values.join(', ')} FROM dbos.${table}, generate_series(1, $2::int) AS number WHERE workflow_uuid = $1`,
      [id, count],
    );
  }
}
