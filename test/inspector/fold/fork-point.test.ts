import { expect, it, vi } from 'vitest';
import { createMachine, fromPromise } from 'xstate';
import { forkPoint } from '../../../inspector/fold/fork-point.ts';
import { figuresOf } from '../../../inspector/fold/summary.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
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

async function heldTrip() {
  const journals = memoryJournals();
  const clock = new TestClock();
  const trips = createDurableMachine(machine, { journals, clock, logger: () => {} });
  const trip = await trips.open('t-1');
  await trip.send({ type: 'BOOK' });
  await vi.waitFor(() => expect(trip.ref.getSnapshot().value).toBe('held'));
  return { journals, clock, trips, trip };
}

it('names the step of an entry, what the actor waits for after it, and what it received next', async () => {
  const { journals, clock, trips, trip } = await heldTrip();
  clock.increment(60_000);
  await vi.waitFor(() => expect(trip.ref.getSnapshot().value).toBe('offered'));
  await trip.send({ type: 'TAKE' });
  const view = foldedActor(await entriesOf(journals.read('t-1')), trips);
  const all = Array.from({ length: view.log.count }, (_, at) => forkPoint(view, 'trip', at, true));
  const shown = all.map(({ step, waits, next }) => [step, waits?.states.join(), next].join(' | '));
  expect([...new Set(shown)]).toEqual([
    'step 1, the start | ready | BOOK',
    'step 2, BOOK | booking | the result of book',
    'step 3, the result of book | held | a timer',
    'step 4, a timer | offered | TAKE',
  ]);
});

it('has no gap of less than a second between a fork and its original', async () => {
  const { journals, clock, trips, trip } = await heldTrip();
  clock.increment(999);
  const booked = trip.entries.find(({ type }) => type === 'activity-start')?.seq ?? 0;
  const fork = await trips.fork('t-1', { at: booked, id: 'f-1' });
  await vi.waitFor(() => expect(fork.ref.getSnapshot().value).toBe('held'));
  const { timeLine } = foldedActor(await entriesOf(journals.read('f-1')), trips).fold;
  expect([timeLine.forkStart, timeLine.gaps]).toEqual([expect.any(Number), []]);
});

it('separates copied steps of a fork from its own, with the time between them, and shows a repeated call as its own', async () => {
  const { journals, clock, trips, trip } = await heldTrip();
  clock.increment(3_600_000);
  const booked = trip.entries.find(({ type }) => type === 'activity-start')?.seq ?? 0;
  const fork = await trips.fork('t-1', { at: booked, id: 'f-1' });
  await vi.waitFor(() => expect(fork.ref.getSnapshot().value).toBe('held'));
  const view = foldedActor(await entriesOf(journals.read('f-1')), trips);
  const start = view.fold.timeLine.forkStart ?? 0;
  expect([start > booked, view.fold.timeLine.gaps, view.fold.timeLine.gapMs(start)]).toEqual([
    true,
    [start],
    3_600_000,
  ]);
  // No step took the time between the original and the fork.
  expect(view.fold.timeLine.wallMs(start)).toBe(view.fold.timeLine.wallMs(booked));
  // But the state of the original stayed until then.
  expect(view.fold.timeLine.passedMs(booked, start)).toBe(3_600_000);
  expect(figuresOf(view.log, view.fold, view.log.count).ms).toBe(trip.entries[booked]?.atMs);
  const rows = systemTrace({ ...view, count: view.log.count, isOver: false });
  expect(rows.map(({ title }) => title)).toEqual([
    'Started',
    'BOOK',
    'Fork begins',
    'book',
    'book finished',
    'Timer 1 min',
  ]);
  expect(rows[3]).toMatchObject({ from: start, early: { from: booked }, note: 'call, repeated in this fork' });
});

it('names the state that was left if a state around it handled the event, and whose transition it was', async () => {
  const nested = createMachine({
    id: 'nested',
    initial: 'group',
    on: { ABORT: '.over' },
    states: {
      group: { initial: 'one', states: { one: { on: { NEXT: 'two' } }, two: {} } },
      over: {},
    },
  });
  const journals = memoryJournals();
  const actors = createDurableMachine(nested, { journals, logger: () => {} });
  const actor = await actors.open('n-1');
  await actor.send({ type: 'NEXT' });
  await actor.send({ type: 'ABORT' });
  const view = foldedActor(await entriesOf(journals.read('n-1')), actors);
  const rows = systemTrace({ ...view, count: view.log.count, isOver: false });
  expect(rows.map(({ moves = '' }) => moves).slice(-2)).toEqual(['one → two', 'two → over']);
});

it('forks a parked actor after the last entry of its step', async () => {
  const { journals, trips, trip } = await heldTrip();
  await trip.park();
  const view = foldedActor(await entriesOf(journals.read('t-1')), trips);
  const [closed = -1] = view.fold.entries.of('closed');
  expect(forkPoint(view, 'trip', closed, false)).toMatchObject({ at: closed - 1, step: 'step 3, the result of book' });
});

it('gives an ignored event no number of a step', async () => {
  const { journals, trips, trip } = await heldTrip();
  await trip.send({ type: 'TAKE' });
  const view = foldedActor(await entriesOf(journals.read('t-1')), trips);
  const ignored = view.fold.entries.of('delivery').at(-1) ?? 0;
  expect(forkPoint(view, 'trip', ignored, false).step).toBe('TAKE');
});
