import { PGlite } from '@electric-sql/pglite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromPromise, setup } from 'xstate';
import {
  createDurableMachine,
  createSchedules,
  createWorker,
  type Schedules,
} from '../../../../src/entries/durable.ts';
import { postgresJournals } from '../../../../src/entries/postgres.ts';
import { quiet } from '../../../support/durable-runs.ts';
import { mortalStore, NOTHING, type Stored } from '../../../support/mortal-store.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const HOUR = 3_600_000;
const START = '2026-11-30T00:00:00Z';

/** A report whose call takes no time. The second step takes as long as its input says. */
const reportMachine = (called: (at: string) => void) =>
  setup({
    types: { input: {} as { scheduledAt: string; ms: number }, context: {} as { scheduledAt: string; ms: number } },
    actors: { write: fromPromise<void, string>(async ({ input }) => called(input)) },
    delays: { work: ({ context }) => context.ms },
  }).createMachine({
    id: 'report',
    context: ({ input }) => input,
    initial: 'writing',
    states: {
      writing: { invoke: { src: 'write', input: ({ context }) => context.scheduledAt, onDone: 'sending' } },
      sending: { after: { work: 'sent' } },
      sent: { type: 'final' },
    },
  });

/** A process with its own copy of what an earlier one has stored. It dies after a number of writes. */
async function startProcess(given: Stored, life: number, nowMs: number, called: (at: string) => void) {
  const { store: journals, count, isDead, stored } = await mortalStore(given, life);
  const clock = new TestClock();
  clock.set(nowMs);
  const reports = createDurableMachine(reportMachine(called), { journals, clock });
  const schedules = createSchedules({ journals, hosts: [reports], clock });
  const worker = createWorker({ hosts: [schedules, reports], clock, pollMs: 60_000 });
  return {
    clock,
    schedules,
    journals,
    stop: () => void worker.stop(),
    count,
    isDead,
    stored,
  };
}

type Step = number | ((schedules: Schedules) => Promise<unknown>);

const STEPS: readonly Step[] = [
  (schedules) => schedules.set('s', { machine: 'report', everyMs: HOUR, input: { ms: 1.25 * HOUR } }),
  // The second time is skipped.
  3 * HOUR,
  (schedules) => schedules.set('s', { machine: 'report', everyMs: HOUR, input: { ms: 0 } }),
  2 * HOUR,
  (schedules) => schedules.pause('s'),
  2 * HOUR,
  (schedules) => schedules.backfill('s', { from: '2026-11-30T06:00Z', to: '2026-11-30T08:00Z' }),
  (schedules) => schedules.resume('s'),
  1.25 * HOUR,
];

/** Performs the steps in one process, or in two, of which the first dies. */
async function run(life = Number.POSITIVE_INFINITY) {
  const calls: string[] = [];
  const called = (at: string): void => void calls.push(at);
  let process = await startProcess(NOTHING, life, Date.parse(START), called);
  let total = 0;
  const settle = () => quiet(() => process.count());
  const revive = async (): Promise<void> => {
    process.stop();
    total += process.count();
    process = await startProcess(await process.stored(), Number.POSITIVE_INFINITY, process.clock.now(), called);
    await settle();
  };
  for (const step of STEPS) {
    if (typeof step === 'number')
      for (let passed = 0; passed < step; passed += 60_000) {
        process.clock.increment(60_000);
        if (passed % (15 * 60_000) === 0 || passed + 60_000 === step) await settle();
        if (process.isDead()) await revive();
      }
    else {
      void step(process.schedules).catch(() => {});
      await settle();
      if (!process.isDead()) continue;
      await revive();
      // A caller that got no answer calls again.
      await step(process.schedules);
    }
  }
  await settle();
  const { divergence } = await process.schedules.host.replay('s');
  const [summary] = await process.schedules.list();
  const stored = await process.stored();
  process.stop();
  return { ids: [...stored.journals.keys()].sort(), calls, total: total + process.count(), divergence, summary };
}

describe('a schedule', () => {
  it('that is killed at each entry starts each actor once, and misses none [D3]', async () => {
    const whole = await run();
    expect(whole.ids).toEqual(['s', ...['01', '03', '05', '06', '08'].map((h) => `s/2026-11-30T${h}:00:00Z`)]);
    for (let life = 0; life < whole.total; life += 1) {
      const killed = await run(life);
      expect(killed.ids, `killed at entry ${life}`).toEqual(whole.ids);
      expect(new Set(killed.calls), `killed at entry ${life}`).toEqual(new Set(whole.calls));
      expect(killed.divergence, `killed at entry ${life}`).toBeNull();
      expect(killed.summary, `killed at entry ${life}`).toEqual(whole.summary);
    }
  });

  it('that two processes set starts each actor once, in a store that answers later', async () => {
    const pglite = new PGlite();
    onTestFinished(() => pglite.close());
    const clock = new TestClock();
    clock.set(Date.parse(START));
    const start = () => {
      const journals = postgresJournals(pglite);
      onTestFinished(() => journals.close());
      const reports = createDurableMachine(
        reportMachine(() => {}),
        { journals, clock },
      );
      return { reports, schedules: createSchedules({ journals, hosts: [reports], clock }) };
    };
    const [one, other] = [start(), start()];
    const spec = { machine: 'report', everyMs: HOUR, input: { ms: 1_000 } };
    await Promise.all([one.schedules.set('s', spec), one.schedules.set('s', spec)]);
    await other.schedules.set('s', spec);
    clock.increment(HOUR);
    for (const { schedules } of [one, other]) await schedules.host.wake();
    const [actor, ...others] = await one.reports.list();
    expect([actor?.id, actor?.status, others]).toEqual(['s/2026-11-30T01:00:00Z', 'interrupted', []]);
    await other.reports.wake();
    clock.increment(1_000);
    await other.reports.wake();
    expect((await one.reports.list()).map(({ status }) => status)).toEqual(['done']);
    expect((await other.schedules.list())[0]?.nextAt).toBe('2026-11-30T02:00:00Z');
  });
});
