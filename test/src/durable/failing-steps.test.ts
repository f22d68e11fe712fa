import { expect, it } from 'vitest';
import { createMachine, SimulatedClock, setup } from 'xstate';
import { createDurableMachine, type DurableMachine } from '../../../src/durable/durable-machine.ts';
import type { DurableEntry } from '../../../src/durable/entries.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createWorker } from '../../../src/durable/worker.ts';
import { anError, throwing } from '../../support/errors.ts';
import { withWriters } from '../../support/journal-files.ts';

const machine = createMachine({
  id: 'm',
  initial: 'idle',
  states: { idle: { after: { 10: 'late' }, on: { go: 'busy' } }, late: { on: { go: 'busy' } }, busy: {} },
});
type Host = DurableMachine<typeof machine>;

/** A store whose writers fail at entries of some types, and a closed actor `a` whose delay is due. */
async function createFaultyHost(refused: readonly DurableEntry['type'][]) {
  const journals = memoryJournals();
  const clock = new SimulatedClock();
  const logged: unknown[] = [];
  const hostOf = (store: typeof journals) =>
    createDurableMachine(machine, { journals: store, clock, logger: (...args) => void logged.push(...args) });
  const actor = await hostOf(journals).open('a');
  await actor.close();
  clock.increment(20);
  const counts = { opened: 0, refused: 0 };
  const counted: typeof journals = {
    ...journals,
    open(...given) {
      counts.opened += 1;
      return journals.open(...given);
    },
  };
  const faulty = withWriters(counted, (writer) => ({
    failure: null,
    write(entries) {
      if (!entries.some(({ type }) => refused.includes(type))) return writer.write(entries);
      counts.refused += 1;
      throw new Error('the disk is full');
    },
    close: () => writer.close(),
  }));
  return { host: hostOf(faulty), counts, logged };
}

it.each<[string, DurableEntry['type'], (host: Host) => Promise<unknown>]>([
  ['open', 'timer', (host) => host.open('a')],
  ['two calls of open', 'timer', (host) => Promise.all([host.open('a'), host.open('a')])],
  ['send', 'timer', (host) => host.send('a', { type: 'go' })],
  ['send', 'delivery', (host) => host.send('a', { type: 'go' })],
  ['advance', 'timer', (host) => host.advance('a')],
  ['fork', 'delivery', (host) => host.fork('a', { at: 0, event: { type: 'go' } })],
])('%s rejects when a step of type %s cannot be stored, and opens the actor once', async (_, refused, call) => {
  const { host, counts } = await createFaultyHost([refused]);
  await expect(call(host)).rejects.toMatchObject(anError('journal_failed', /^actor \S+: the disk is full$/u));
  expect(counts.refused).toBe(1);
  expect(counts.opened).toBeLessThanOrEqual(1);
});

it('wake and a worker report an actor whose step cannot be stored, and continue', async () => {
  const { host, counts, logged } = await createFaultyHost(['timer']);
  expect(await host.wake()).toEqual([]);
  expect(logged).toEqual(['actor a could not be continued:', expect.objectContaining({ code: 'journal_failed' })]);
  const failed: unknown[] = [];
  const worker = createWorker({
    hosts: [host],
    onEvent: (event) => event.type === 'failed' && failed.push(event.error),
  });
  await worker.poll();
  await worker.stop();
  expect(failed).toEqual([expect.objectContaining({ code: 'journal_failed' })]);
  expect(counts).toEqual({ opened: 2, refused: 2 });
});

it('a list says why an actor failed, and has its summary, if an action threw', async () => {
  const broken = setup({ actions: { notify: throwing('the mail server is down') } }).createMachine({
    id: 'broken',
    on: { go: { actions: 'notify' } },
  });
  const host = createDurableMachine(broken, {
    journals: memoryJournals(),
    describeEnd: ({ status }) => ({ ended: status }),
  });
  const actor = await host.open('a');
  actor.output.catch(() => {});
  await actor.send({ type: 'go' });
  await actor.close();
  const listed = await host.list({ where: { ended: 'error' } });
  expect(listed).toMatchObject([{ reason: 'the mail server is down', summary: { ended: 'error' } }]);
  expect(actor.entries.at(-1)?.type).toBe('effect-end');
});
