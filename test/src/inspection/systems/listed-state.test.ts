import { expect, it } from 'vitest';
import { createMachine, fromPromise, setup } from 'xstate';
import { countedViews, shownColumns, statusWords } from '../../../../inspector/fold/run-list.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../../../src/entries/durable.ts';
import { ListedState } from '../../../../src/inspection/systems/listed-state.ts';
import { leavesOf } from '../../../../src/inspection/systems/observe-for-inspector.ts';
import { activeNodes } from '../../../../src/xstate/actors.ts';
import { openPage, startInspector } from '../../../support/inspection-server.ts';
import { order } from '../../../support/recorded-actors.ts';

const DAY_MS = 86_400_000;

const waits = (to: string) => ({ after: { [DAY_MS]: to }, on: { NEXT: to } });

const machine = setup({
  actors: { pay: fromPromise(() => Promise.reject(new Error('card declined'))) },
}).createMachine({
  id: 'trip',
  initial: 'asking',
  states: {
    asking: { after: { [DAY_MS]: 'booking' }, on: { GO: 'booking' } },
    booking: {
      type: 'parallel',
      states: {
        flight: { initial: 'open', states: { open: waits('held'), held: waits('open') } },
        hotel: {
          initial: 'paying',
          states: { paying: { invoke: { src: 'pay', onError: 'stuck' } }, stuck: { on: { PAY: 'paying' } } },
          on: { RESET: '.stuck' },
        },
      },
      on: { BACK: 'asking' },
    },
  },
});

it('the list has the states of all regions and the last error, without a replay', async () => {
  const journals = memoryJournals();
  const trips = createDurableMachine(machine, { journals, logger: () => {} });
  const actor = await trips.open('t');
  const listed = async () => {
    const state = new ListedState();
    for (const entry of await entriesOf(journals.read('t'))) state.take(entry);
    return state;
  };
  const leaves = () => leavesOf(activeNodes(actor.getSnapshot())).map((id) => id.split('.').slice(1).join(' › '));
  for (const type of ['', 'GO', 'NEXT', 'RESET', 'NEXT', 'BACK', 'GO'] as const) {
    if (type !== '') await actor.send({ type });
    await expect.poll(() => actor.pending.activities.length).toBe(0);
    expect((await listed()).statesIn(null)).toBe(leaves().toSorted().join(', '));
    expect((await listed()).statesIn(trips)).toBe(leaves().toSorted().join(', '));
  }
  expect((await listed()).failure).toBe('pay failed: card declined');
});

it('the list has states that were entered by default, and regions without a transition, if it has the machine', async () => {
  const groups = createMachine({
    id: 'g',
    initial: 'one',
    states: {
      one: { on: { NEXT: 'two' } },
      two: {
        type: 'parallel',
        states: {
          z: { initial: 'off', states: { off: { on: { TURN: 'on' } }, on: {} } },
          a: { initial: 'late', states: { early: {}, late: {}, before: { type: 'history' } }, on: { BACK: '.before' } },
        },
      },
    },
  });
  const journals = memoryJournals();
  const hosts = createDurableMachine(groups, { journals, logger: () => {} });
  const actor = await hosts.open('g');
  const listed = async (type?: 'NEXT' | 'TURN' | 'BACK') => {
    if (type !== undefined) await actor.send({ type });
    const state = new ListedState();
    for (const entry of await entriesOf(journals.read('g'))) state.take(entry);
    return [state.statesIn(null), state.statesIn(hosts)];
  };
  expect(await listed()).toEqual(['', 'one']);
  expect(await listed('NEXT')).toEqual(['two', 'two › z › off, two › a › late']);
  expect(await listed('TURN')).toEqual(['two › z › on', 'two › z › on, two › a › late']);
  expect((await listed('BACK'))[1]).toBe('two › z › on, two › a');
});

it('the list omits the failure of a call that has succeeded since', async () => {
  let isDown = true;
  const call = fromPromise(async () => {
    if (isDown) throw new Error('503');
  });
  const retrying = createMachine({
    initial: 'calling',
    states: {
      calling: { invoke: { src: call, onDone: 'over', onError: 'down' } },
      down: { on: { RETRY: 'calling' } },
      over: {},
    },
  });
  const journals = memoryJournals();
  const actor = await createDurableMachine(retrying, { journals, logger: () => {} }).open('c');
  await expect.poll(() => actor.getSnapshot().value).toBe('down');
  isDown = false;
  await actor.send({ type: 'RETRY' });
  await expect.poll(() => actor.getSnapshot().value).toBe('over');
  const state = new ListedState();
  for (const entry of await entriesOf(journals.read('c'))) state.take(entry);
  expect([state.statesIn(null), state.failure]).toEqual(['over', '']);
});

it('an actor that a process has opened again still waits for the same approval', async () => {
  const journals = memoryJournals();
  const orders = createDurableMachine(order, { journals, logger: () => {} });
  const actor = await orders.open('o-1', { input: { amount: 40 } });
  await actor.send({ type: 'ask' });
  await actor.park();
  const page = await openPage((await startInspector({ journals })).url);
  const row = async (isHeld: boolean) => {
    const { runs } = await page.runs(({ runs }) =>
      runs.some(({ status, ending }) => (status === 'running') === isHeld && ending?.states === 'asking'),
    );
    expect(shownColumns(runs, { columns: '', sort: 'started' })).toContain('state');
    return runs[0] as (typeof runs)[0];
  };
  expect(countedViews([await row(false)], Date.now()).map(([view]) => view)).toEqual(['for-its-program']);
  const again = await orders.open('o-1');
  const held = await row(true);
  expect(countedViews([held], Date.now()).map(([view]) => view)).toEqual(['for-its-program']);
  expect(statusWords(held)).toMatchObject({ label: 'waiting for approval', tone: 'plain' });
  await again.close();
});
