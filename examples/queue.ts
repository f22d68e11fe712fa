import { createDurableMachine, createWorker, memoryJournals } from 'postchain/durable';
import { fromPromise, setup } from 'xstate';

const importing = setup({
  types: {
    input: {} as { customer: string; file: string },
    context: {} as { customer: string; file: string },
  },
  actors: { load: fromPromise<void, string>(async ({ input }) => console.log(`loads ${input}`)) },
}).createMachine({
  id: 'import',
  context: ({ input }) => input,
  initial: 'loading',
  states: {
    loading: { invoke: { src: 'load', input: ({ context }) => context.file, onDone: 'loaded', onError: 'failed' } },
    loaded: { type: 'final' },
    failed: { type: 'final' },
  },
});

const imports = createDurableMachine(importing, {
  journals: memoryJournals(),
  queue: {
    concurrency: 20,
    rate: { starts: 100, everyMs: 60_000 },
    key: ({ customer }) => customer,
    perKey: { concurrency: 1 },
  },
});

await imports.enqueue('i-1', { input: { customer: 'Ann', file: 'a.csv' } });
await imports.enqueue('i-2', { input: { customer: 'Ann', file: 'b.csv' } });
await imports.enqueue('i-3', { input: { customer: 'Bob', file: 'urgent.csv' }, priority: 5 });
await imports.enqueue('i-4', { input: { customer: 'Cem', file: 'c.csv' }, delayMs: 60_000 });

// Prints "loads urgent.csv", "loads a.csv" and, when that has ended, "loads b.csv".
const worker = createWorker({ hosts: [imports] });
await worker.poll();
await worker.stop();

for (const { id, queued } of await imports.list({ status: 'queued' })) console.log(id, queued?.key); // i-4 Cem
