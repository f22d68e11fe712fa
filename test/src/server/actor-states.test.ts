import { expect, it } from 'vitest';
import { createMachine, fromPromise } from 'xstate';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { nextTurn } from '../../../src/internal/async.ts';
import { statesOf } from '../../../src/server/actor-states.ts';

const called = fromPromise(() => new Promise(() => {}));
const machine = (paid: string) =>
  createMachine({
    id: 'order',
    initial: 'new',
    states: {
      new: { always: 'open' },
      open: { invoke: { src: called }, on: { PAY: paid } },
      paid: { type: 'final' },
      free: { type: 'final' },
    },
  });

/** Follows an actor with a machine. */
function followed(journals: ReturnType<typeof memoryJournals>, paid = 'paid') {
  const host = createDurableMachine(machine(paid), { journals });
  const states = statesOf({ name: 'order', host }, 'o', journals.follow('o'));
  return async () => (await states.next()).value;
}

it('the states of an actor follow a journal whose first step is stored in two parts', async () => {
  const journals = memoryJournals();
  const actor = createDurableMachine(machine('paid'), { journals }).start('o', { isPaused: true });
  const next = followed(journals);
  expect(await next()).toMatchObject({ seq: 1, state: { value: 'open' } });
  actor.begin();
  // The call is stored when it starts.
  expect(await next()).toMatchObject({ seq: 2, state: { value: 'open', status: 'running' } });
  await actor.send({ type: 'PAY' });
  expect(await next()).toMatchObject({ state: { value: 'paid', status: 'done' } });
  expect(await next()).toBeUndefined();
});

it('the states of an actor end with `diverged` if the machine has changed', async () => {
  const journals = memoryJournals();
  await createDurableMachine(machine('paid'), { journals }).start('o').send({ type: 'PAY' });
  await expect(followed(journals, 'free')()).rejects.toMatchObject({ code: 'diverged' });
});

it('the states of an actor go back to those before a failed step that is retried', async () => {
  const failing = createMachine({
    id: 'order',
    initial: 'paying',
    states: { paying: { invoke: { src: fromPromise(() => Promise.reject(new Error('no funds'))) } } },
  });
  const host = createDurableMachine(failing, { journals: memoryJournals(), logger: () => {} });
  await expect(host.start('o').output).rejects.toThrow('no funds');
  const before = await entriesOf(host.journals.read('o'));
  await host.repair('retry');
  const after = (await entriesOf(host.journals.read('o'))).slice(before.length);
  let retry = (): void => {};
  async function* entries() {
    yield* before;
    await new Promise<void>((resolve) => {
      retry = resolve;
    });
    yield* after;
  }
  const states = statesOf({ name: 'order', host }, 'o', entries());
  expect((await states.next()).value).toMatchObject({ state: { status: 'error' } });
  retry();
  expect((await states.next()).value).toMatchObject({ state: { value: 'paying', status: 'running', error: null } });
});

it('the states of an actor follow one that is retried after its end', async () => {
  const journals = memoryJournals();
  let calls = 0;
  const pay = fromPromise(async () => {
    calls += 1;
    if (calls === 1) throw new Error('card refused');
  });
  const paying = createMachine({
    id: 'order',
    initial: 'new',
    states: {
      new: { on: { PAY: 'paying' } },
      paying: { invoke: { src: pay, onDone: 'paid' } },
      paid: { on: { SHIP: 'sent' } },
      sent: { type: 'final' },
    },
  });
  const host = createDurableMachine(paying, { journals });
  await host.open('o');
  await host.send('o', { type: 'PAY' });
  await expect((await host.open('o')).output).rejects.toThrow();
  const failed = await entriesOf(journals.read('o'));
  await host.retry('o');
  await host.send('o', { type: 'SHIP' });
  const all = await entriesOf(journals.read('o'));
  for (let cut = 1; cut < all.length; cut += 1) {
    async function* parts() {
      yield* all.slice(0, cut);
      for (let turns = 0; turns < 5; turns += 1) await nextTurn();
      yield* all.slice(cut);
    }
    const values: unknown[] = [];
    for await (const { state } of statesOf({ name: 'order', host }, 'o', parts())) values.push(state.value);
    expect([cut, values.at(-1)]).toEqual([cut, 'sent']);
    if (cut === failed.length) expect(values[0]).toBe('paying');
  }
});
