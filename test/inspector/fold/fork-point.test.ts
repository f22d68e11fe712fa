import { expect, it, vi } from 'vitest';
import { createMachine, fromPromise } from 'xstate';
import { forkPoint } from '../../../inspector/fold/fork-point.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { foldedActor } from '../../support/inspector/inspected-runs.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const machine = createMachine({
  id: 'trip',
  version: '1',
  initial: 'ready',
  states: {
    ready: { on: { BOOK: 'booking' } },
    booking: { invoke: { id: 'book', src: fromPromise(async () => 'KX71'), onDone: 'held' } },
    held: { after: { 60000: 'offered' }, on: { CANCEL: 'over' } },
    offered: { on: { TAKE: 'over' } },
    over: { type: 'final' },
  },
});

it('names the step of an entry, what the actor waits for after it, and what it received next', async () => {
  const journals = memoryJournals();
  const clock = new TestClock();
  const trips = createDurableMachine(machine, { journals, clock, logger: () => {} });
  const trip = await trips.open('t-1');
  await trip.send({ type: 'BOOK' });
  await vi.waitFor(() => expect(trip.ref.getSnapshot().value).toBe('held'));
  clock.increment(60_000);
  await vi.waitFor(() => expect(trip.ref.getSnapshot().value).toBe('offered'));
  await trip.send({ type: 'TAKE' });
  const view = foldedActor(await entriesOf(journals.read('t-1')), trips);
  const all = Array.from({ length: view.log.count }, (_, at) => forkPoint(view, 'trip', at, true));
  const shown = all.map(({ step, waits, next }) => [step, waits?.states.join(), next].join(' | '));
  expect([...new Set(shown)]).toEqual([
    'the start | ready | BOOK',
    'BOOK | booking | the result of book',
    'the result of book | held | a timer',
    'a timer | offered | TAKE',
  ]);
});
