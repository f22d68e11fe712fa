import { expect } from 'vitest';
import { createMachine } from 'xstate';
import type { ActorSummary, Journals, ListOptions } from '../../src/durable/journals/journal-store.ts';
import { approval, createDurableMachine } from '../../src/entries/durable.ts';
import { writeJournal } from './journal-files.ts';
import { TestClock } from './simulated-clock.ts';

export const START_MS = Date.parse('2026-01-01T00:00:00Z');
const HOUR = 3_600_000;

const orderMachine = createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { PAY: 'paid' }, after: { [HOUR]: 'expired' } }, paid: { type: 'final' }, expired: {} },
});
const purchaseMachine = createMachine({
  id: 'purchase',
  initial: 'asking',
  states: { asking: { invoke: { src: approval, input: { question: 'Buy it?' } } } },
});

/** Stores five actors of two machines; `now` is half an hour after they started. */
export async function storeActors(journals: Journals): Promise<void> {
  const clock = new TestClock();
  clock.set(START_MS);
  const orders = createDurableMachine(orderMachine, { journals, clock, describeWait: () => ({ room: 7 }) });
  const purchases = createDurableMachine(purchaseMachine, { journals, clock });
  for (const [id, product] of [
    ['ann', { customer: 'Ann', isNew: true }],
    ['bob', { customer: 'Bob' }],
  ] as const) {
    await orders.start(id, { product }).park();
    clock.increment(HOUR / 4);
  }
  await (await orders.open('paid')).send({ type: 'PAY' });
  await (await purchases.open('bought')).park();
  const killed = purchases.start('killed');
  const [start] = killed.entries;
  await killed.close();
  await journals.delete('killed');
  await writeJournal(journals, 'killed', [start as never]);
}

const idsOf = (found: readonly ActorSummary[]): readonly string[] => found.map(({ id }) => id).toSorted();

/** Checks the lists of a store that has only these actors. */
export async function checkLists(journals: Journals): Promise<void> {
  const ids = async (options: ListOptions) => idsOf(await journals.list(options));
  expect(await ids({})).toEqual(['ann', 'bob', 'bought', 'killed', 'paid']);
  expect(await ids({ machine: 'order' })).toEqual(['ann', 'bob', 'paid']);
  expect(await ids({ machine: 'ord' })).toEqual([]);
  expect(await ids({ status: 'interrupted' })).toEqual(['killed']);
  expect(await ids({ status: ['waiting', 'done'], machine: 'order' })).toEqual(['ann', 'bob', 'paid']);
  expect(await ids({ waitingFor: 'PAY' })).toEqual(['ann', 'bob']);
  expect(await ids({ waitingFor: 'approval' })).toEqual(['bought']);
  expect(await ids({ dueBefore: START_MS + HOUR })).toEqual(['ann']);
  expect(await ids({ dueBefore: START_MS + HOUR - 1 })).toEqual([]);
  expect(await ids({ dueBefore: START_MS + 2 * HOUR, machine: 'order', limit: 1 })).toEqual(['bob']);
  expect(await ids({ dueBefore: START_MS + 2 * HOUR, status: 'done' })).toEqual([]);
  expect(await ids({ where: { customer: 'Ann' } })).toEqual(['ann']);
  expect(await ids({ where: { customer: 'Ann', isNew: false } })).toEqual([]);
  expect(await ids({ where: { room: 7, customer: 'Bob' } })).toEqual(['bob']);
  expect(await ids({ where: { toString: 1 } })).toEqual([]);
  const [first, second] = await journals.list({ machine: 'order' });
  expect(await journals.list({ machine: 'order', limit: 1, after: first as ActorSummary })).toEqual([second]);
}
