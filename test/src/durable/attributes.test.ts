import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import {
  type Attributes,
  createDurableMachine,
  type DurableEntry,
  type Journals,
  memoryJournals,
} from '../../../src/entries/durable.ts';
import { JOURNAL_STORES, withWriters } from '../../support/journal-files.ts';

type OrderEvent = { type: 'ADD'; price: number } | { type: 'LOOK' } | { type: 'PAY' };

const orderMachine = setup({
  types: {
    input: {} as { customer: string },
    context: {} as { customer: string; total: number },
    events: {} as OrderEvent,
  },
  actors: { pay: fromPromise(() => new Promise<void>(() => {})) },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ customer: input.customer, total: 0 }),
  initial: 'open',
  on: { ADD: { actions: assign({ total: ({ context, event }) => context.total + event.price }) }, LOOK: {} },
  states: {
    open: { on: { PAY: 'paying' } },
    paying: { invoke: { src: 'pay' }, on: { PAY: 'paid' } },
    paid: { type: 'final', entry: assign({ total: -1 }) },
  },
});

const ordersIn = (journals: Journals, more = {}) =>
  createDurableMachine(orderMachine, {
    journals,
    describeAttributes: ({ context: { customer, total } }) => ({ customer, total }),
    ...more,
  });

const attributesIn = (entries: readonly DurableEntry[]): readonly Attributes[] =>
  entries.flatMap((entry) => (entry.type === 'attributes' ? [entry.attributes] : []));

describe.each(JOURNAL_STORES)('attributes in %s', (_, open) => {
  it('find an actor in every status, by those after its last step', async () => {
    const orders = ordersIn(open());
    const order = await orders.open('o-1', { input: { customer: 'c-1' } });
    await (await orders.open('o-2', { input: { customer: 'c-2' } })).park();
    const found = async () =>
      (await orders.list({ where: { customer: ['c-1', 'c-3'] } })).map(({ status, attributes }) => [
        status,
        attributes['total'],
      ]);
    expect(await found()).toEqual([['running', 0]]);
    await order.send({ type: 'ADD', price: 40 });
    await order.send({ type: 'LOOK' });
    expect(await found()).toEqual([['running', 40]]);
    await order.park();
    expect(await found()).toEqual([['waiting', 40]]);
    await (await orders.open('o-1')).send({ type: 'PAY' });
    await (await orders.open('o-1')).close();
    expect(await found()).toEqual([['interrupted', 40]]);
    await orders.send('o-1', { type: 'PAY' });
    expect(await found()).toEqual([['done', -1]]);
    expect(await orders.list({ where: { total: 40 } })).toEqual([]);
    const entries = await entriesOf(orders.journals.read('o-1'));
    expect(attributesIn(entries).map((each) => each['total'])).toEqual([0, 40, -1]);
    expect(entries.slice(-2).map(({ type }) => type)).toEqual(['attributes', 'end']);
    expect((await orders.replay('o-1')).divergence).toBeNull();
    const fork = await orders.fork('o-1', { at: 1, id: 'fork', event: { type: 'ADD', price: 5 } });
    expect(await fork.park()).toBe(true);
    expect((await orders.list({ where: { total: 5 } })).map(({ id }) => id)).toEqual(['fork']);
  });
});

it('that a changed function returns are stored when an actor is opened', async () => {
  const journals = memoryJournals();
  await (await ordersIn(journals, { describeAttributes: undefined }).open('o', { input: { customer: 'c' } })).park();
  const orders = ordersIn(journals, { describeAttributes: () => ({ region: 'eu' }) });
  await (await orders.open('o')).park();
  expect((await orders.list({ where: { region: 'eu' } })).map(({ id }) => id)).toEqual(['o']);
});

it.each([
  ['throws', () => failWith('no attributes')],
  ['returns a nested object', () => ({ customer: { id: 1 } })],
  ['returns an array', () => ['c-1']],
  ['returns null', () => null],
  ['returns a number that JSON lacks', () => ({ total: Number.NaN })],
  ['returns too much', () => ({ text: 'x'.repeat(2_000) })],
])('of a function that %s stay as they were, and its actor continues', async (_, describeAttributes) => {
  const journals = memoryJournals();
  await (await ordersIn(journals).open('o', { input: { customer: 'c' } })).park();
  const logged: unknown[] = [];
  const orders = ordersIn(journals, {
    describeAttributes,
    logger: (...given: unknown[]) => void logged.push(given[0]),
  });
  await orders.send('o', { type: 'ADD', price: 1 });
  expect((await orders.list())[0]?.attributes).toEqual({ customer: 'c', total: 0 });
  expect(logged).toContain('describeAttributes failed; its result is not stored:');
});

it('follow a keyframe, and are not stored again by a process that continues from it', async () => {
  const journals = withWriters(memoryJournals(), (writer) => Object.create(writer, { keyframeEvery: { value: 20 } }));
  const machine = createMachine({ id: 'counter', on: { GO: { actions: () => {} } } });
  const counters = createDurableMachine(machine, { journals, describeAttributes: () => ({ kind: 'slow' }) });
  const counter = await counters.open('c');
  for (let at = 0; at < 100; at += 1) await counter.send({ type: 'GO' });
  await counter.park();
  const before = await entriesOf(journals.read('c'));
  const reopened = await counters.open('c');
  expect(reopened.entries.length).toBeLessThan(before.length);
  await reopened.send({ type: 'GO' });
  await reopened.park();
  const entries = await entriesOf(journals.read('c'));
  const preceding = entries.flatMap(({ type }, at) => (type === 'attributes' ? [entries[at - 1]?.type] : []));
  expect(new Set(preceding)).toEqual(new Set(['start', 'keyframe']));
  expect(preceding.filter((type) => type === 'start')).toHaveLength(1);
});

function failWith(message: string): never {
  throw new Error(message);
}

it('of an actor on an earlier version stay as that version described them', async () => {
  const journals = memoryJournals();
  const first = createMachine({ id: 'v', version: '1', on: { GO: {} } });
  const second = createMachine({ id: 'v', version: '2', on: { GO: {} } });
  await (
    await createDurableMachine(first, { journals, describeAttributes: () => ({ customer: 'c-1' }) }).open('a')
  ).park();
  const host = createDurableMachine(second, {
    journals,
    versions: { '1': first },
    describeAttributes: () => ({ total: 0 }),
  });
  await host.send('a', { type: 'GO' });
  expect(await host.list()).toMatchObject([{ attributes: { customer: 'c-1' } }]);
});
