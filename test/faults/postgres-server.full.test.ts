import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import type { DurableMachine } from '../../src/entries/durable.ts';
import type { PostgresJournals } from '../../src/entries/postgres.ts';
import { temporaryFolder } from '../support/cli.ts';
// @ts-expect-error: plain JavaScript, because it also runs in child processes.
import { ordersOn, ROUNDS } from '../support/paid-orders.mjs';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { isSoak, sampleSize } from '../support/soak.ts';

const FAULTS = sampleSize('faults', 12, 300);
const SENDERS = 6;
const WORKERS = 3;
/** How long a sender pauses between two orders. */
const PAUSE_MS = 300;
/** Longer than the lease of a journal. */
const STOPPED_MS = 11_000;
const MAX_JUMP_MS = 2 * 3_600_000;

interface Orders {
  readonly journals: PostgresJournals;
  readonly host: DurableMachine<AnyStateMachine>;
}

/** Repeats what a fault interrupts. */
async function surely(act: () => Promise<unknown>, onError = (_error: unknown): void => {}): Promise<void> {
  for (;;)
    try {
      await act();
      return;
    } catch (error) {
      onError(error);
      await pause(20);
    }
}

/** Fills the file of the table that grows most, so that it is the first to exceed a limit. No journal has these lines. */
async function fillLines(pool: pg.Pool, journals: PostgresJournals): Promise<void> {
  await journals.list();
  await pool.query(
    `INSERT INTO postchain_actor_lines SELECT -1, n, repeat('x', 1900) FROM generate_series(1, 1000) AS n`,
  );
}

/** Returns equally many faults of each name, in random order. */
function randomFaults(names: readonly string[]) {
  const all = Array.from({ length: FAULTS }, (_, nth) => names[nth % names.length] as string);
  const [order = []] = fc.sample(fc.shuffledSubarray(all, { minLength: FAULTS }), 1);
  const details = fc.record({
    at: fc.nat(WORKERS - 1),
    afterMs: fc.integer({ min: 20, max: 400 }),
    jumpMs: fc.integer({ min: -MAX_JUMP_MS, max: MAX_JUMP_MS }),
  });
  return fc.sample(details, FAULTS).map((each, nth) => ({ ...each, name: order[nth] as string }));
}

describe.skipIf(!hasPostgres)('orders on a PostgreSQL server that crashes', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('lose no accepted event, charge once per key, and all end', async () => {
    const url = await server.newSchema();
    const effects = join(temporaryFolder(), 'effects');
    writeFileSync(effects, '');
    const { journals, host }: Orders = ordersOn(url, effects);
    onTestFinished(() => journals.close());
    await fillLines(server.pool(url, 1), journals);

    const workers: ChildProcess[] = [];
    const startWorker = (at: number): void => {
      const args = ['test/support/paid-orders.mjs', url, effects];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      workers[at] = child;
    };
    for (let at = 0; at < WORKERS; at += 1) startWorker(at);

    const ids: string[] = [];
    let refusals = 0;
    const countFull = (error: unknown): void => {
      if (/File too large/u.test(String(error))) refusals += 1;
    };
    let isOver = false;
    const sender = async (): Promise<void> => {
      while (!isOver) {
        const id = `order-${ids.length}`;
        ids.push(id);
        await pause(PAUSE_MS);
        await surely(async () => (await host.open(id)).close(), countFull);
        for (let round = 1; round <= ROUNDS; round += 1)
          await surely(() => host.send(id, { type: 'pay' }, { id: `${id}-${round}` }), countFull);
      }
    };
    const senders = Array.from({ length: SENDERS }, sender);

    const stopped: Promise<unknown>[] = [];
    const faults: Record<string, (at: number, jumpMs: number) => Promise<unknown>> = {
      'server killed': () => server.crash(),
      // Until the server is killed again.
      'disk full': () => server.crash({ isFull: true }),
      'connections cut': () => surely(() => server.disconnectAll()),
      'worker killed': async (at) => {
        const worker = workers[at] as ChildProcess;
        const ended = once(worker, 'exit');
        worker.kill('SIGKILL');
        worker.kill('SIGCONT');
        await ended;
        startWorker(at);
      },
      'worker stopped beyond its lease': async (at) => {
        const worker = workers[at] as ChildProcess;
        worker.kill('SIGSTOP');
        stopped.push(pause(STOPPED_MS).then(() => worker.kill('SIGCONT')));
      },
      'clock changed': async (at, jumpMs) => void workers[at]?.send({ jumpMs }),
    };
    for (const { name, at, afterMs, jumpMs } of randomFaults(Object.keys(faults))) {
      await pause(afterMs);
      await faults[name]?.(at, jumpMs);
    }
    await server.crash();
    isOver = true;
    await Promise.all([...senders, ...stopped]);

    const unended = async () => (await journals.list()).filter(({ status }) => status !== 'done').map(({ id }) => id);
    await expect.poll(unended, { timeout: 120_000, interval: 500 }).toEqual([]);
    expect((await journals.list()).map(({ id }) => id).sort()).toEqual([...ids].sort());
    // An event that was accepted twice would end an order with more than it asked for.
    for (const id of ids) expect((await host.query(id)).snapshot.output).toEqual({ asked: ROUNDS, paid: ROUNDS });
    const keys = new Set(readFileSync(effects, 'utf8').trim().split('\n'));
    expect(keys.size).toBe(ids.length * ROUNDS);
    if (!isSoak) return;
    expect(refusals).toBeGreaterThan(0);
    process.stderr.write(`${ids.length} orders after ${FAULTS} faults; the full disk refused ${refusals} requests\n`);
  });
});
