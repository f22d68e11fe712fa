import { createDurableMachine, createSchedules, createWorker, memoryJournals } from 'postchain/durable';
import { fromPromise, setup } from 'xstate';

const report = setup({
  types: { input: {} as { kind: string; scheduledAt: string }, context: {} as { kind: string; scheduledAt: string } },
  actors: {
    write: fromPromise<void, string>(async ({ input }) => console.log(input)),
  },
}).createMachine({
  id: 'report',
  context: ({ input }) => input,
  initial: 'writing',
  states: {
    writing: {
      invoke: {
        src: 'write',
        input: ({ context }) => `Report of ${context.scheduledAt}`,
        onDone: 'written',
        onError: 'failed',
      },
    },
    written: { type: 'final' },
    failed: { type: 'final' },
  },
});

const journals = memoryJournals();
const reports = createDurableMachine(report, { journals });
const schedules = createSchedules({ journals, hosts: [reports] });

// At each start of the program: does nothing if the schedule is the same.
await schedules.set('nightly', {
  machine: 'report',
  cron: '0 3 * * *',
  timeZone: 'Europe/Berlin',
  input: { kind: 'daily' },
});
for (const { id, nextAt } of await schedules.list()) console.log(id, nextAt);

// Starts the reports of past days that have none. On March 29, the clocks change.
const ids = await schedules.backfill('nightly', { from: '2026-03-28', to: '2026-03-30' });
console.log(ids.join(', ')); // nightly/2026-03-28T02:00:00Z, nightly/2026-03-29T01:00:00Z

const worker = createWorker({ hosts: [schedules, reports] });
await worker.poll();
await worker.stop();
