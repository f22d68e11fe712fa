import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, sendTo, setup } from 'xstate';
import {
  createDurableMachine,
  type DurableEntry,
  defineGuard,
  fileJournals,
  memoryJournals,
  PostChainError,
  sqliteJournals,
} from '../../../src/entries/durable.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const order = setup({
  types: {
    input: {} as { amount: number },
    context: {} as { amount: number; reminders: number },
    events: {} as { type: 'APPROVE' } | { type: 'REJECT' },
  },
  actors: { pay: fromPromise<string, number>(async ({ input }) => `receipt for ${input}`) },
  guards: {
    isAffordable: defineGuard(({ context }) => ({
      holds: context['amount'] <= 100,
      inputs: { amount: context['amount'], limit: 100 },
    })),
  },
  delays: { patience: 30 * 86_400_000 },
}).createMachine({
  id: 'order',
  version: '2',
  context: ({ input }) => ({ amount: input.amount, reminders: 0 }),
  initial: 'waiting',
  states: {
    waiting: {
      on: { APPROVE: { guard: 'isAffordable', target: 'paying' }, REJECT: 'rejected' },
      after: {
        patience: {
          target: 'waiting',
          reenter: true,
          actions: assign({ reminders: ({ context }) => context.reminders + 1 }),
        },
      },
    },
    paying: { invoke: { src: 'pay', input: ({ context }) => context.amount, onDone: 'paid', onError: 'waiting' } },
    paid: { type: 'final' },
    rejected: { type: 'final' },
  },
  output: ({ context }) => context.amount,
});

const journals = () => memoryJournals();
const clockAt = (iso: string): TestClock => {
  const clock = new TestClock();
  clock.set(Date.parse(iso));
  return clock;
};
const typesOf = (entries: readonly DurableEntry[]): readonly string[] => entries.map(({ type }) => type);

describe('a durable machine', () => {
  it('starts an actor, stores what enters it, and ends with its output [D1]', async () => {
    const orders = createDurableMachine(order, { journals: journals() });
    const actor = await orders.open('o-1', { input: { amount: 40 } });
    expect(await actor.send({ type: 'APPROVE' })).toBe(true);
    expect(await actor.output).toBe(40);
    expect(typesOf(actor.entries)).toEqual([
      'start',
      'timer-start',
      'delivery',
      'transition',
      'activity-start',
      'activity-event',
      'transition',
      'end',
    ]);
    expect((await orders.list()).map(({ id, status, machine }) => ({ id, status, machine }))).toEqual([
      { id: 'o-1', status: 'done', machine: { id: 'order', version: '2', digest: expect.any(String) } },
    ]);
    expect(await (await orders.open('o-1')).send({ type: 'REJECT' })).toBe(false);
  });

  it('returns the same actor each time it is opened in this process', async () => {
    const orders = createDurableMachine(order, { journals: journals() });
    const [one, other] = await Promise.all([orders.open('o', { input: { amount: 1 } }), orders.open('o')]);
    expect(one).toBe(other);
  });

  it('counts an event with the same id once, even in another process [D1]', async () => {
    const store = journals();
    const first = await createDurableMachine(order, { journals: store }).open('o', { input: { amount: 400 } });
    expect(await first.send({ type: 'APPROVE' }, { id: 'click-1' })).toBe(true);
    expect(await first.send({ type: 'APPROVE' }, { id: 'click-1' })).toBe(false);
    await first.close();
    const second = await createDurableMachine(order, { journals: store }).open('o');
    expect(await second.send({ type: 'APPROVE' }, { id: 'click-1' })).toBe(false);
  });

  it('journals events that are sent to its XState actor, and stops through the journal [D1]', async () => {
    const actor = await createDurableMachine(order, { journals: journals() }).open('o', { input: { amount: 400 } });
    actor.ref.send({ type: 'APPROVE' });
    actor.ref.stop();
    expect(typesOf(actor.entries)).toEqual(['start', 'timer-start', 'delivery', 'ignored', 'stopped', 'end']);
    await expect(actor.output).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('journals what an observer sends during a step [D1]', async () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { on: { NEXT: 'c' } }, c: {} },
    });
    const durable = createDurableMachine(machine, { journals: journals() });
    const actor = await durable.open('x');
    actor.ref.subscribe((snapshot) => {
      if (snapshot.matches('b')) actor.ref.send({ type: 'NEXT' });
    });
    await actor.send({ type: 'GO' });
    expect(actor.getSnapshot().value).toBe('c');
    expect((await durable.replay('x')).divergence).toBeNull();
  });

  it('records each candidate of a decision with its result and the values that its guard compared [D7]', async () => {
    const actor = await createDurableMachine(order, { journals: journals() }).open('o', { input: { amount: 400 } });
    await actor.send({ type: 'APPROVE' });
    expect(actor.entries.find(({ type }) => type === 'ignored')).toMatchObject({
      event: 'APPROVE',
      candidates: [
        { guard: 'isAffordable', target: ['order.paying'], result: 'false', inputs: { amount: 400, limit: 100 } },
      ],
    });
  });

  it('reports what it waits for', async () => {
    const clock = clockAt('2026-01-01T00:00:00Z');
    const actor = await createDurableMachine(order, { journals: journals(), clock }).open('o', {
      input: { amount: 1 },
    });
    expect(actor.pending).toEqual({
      activities: [],
      timers: [
        { actor: '', event: 'xstate.after.patience.order.waiting', dueAtMs: Date.parse('2026-01-31T00:00:00Z') },
      ],
      events: ['APPROVE', 'REJECT'],
    });
  });

  it.each([
    ['counts', 1],
    ['pauses', 0],
  ] as const)('time without a process %s for a delay of 30 days [D4]', async (timeWithoutProcess, reminders) => {
    const store = journals();
    const clock = clockAt('2026-01-01T00:00:00Z');
    const first = await createDurableMachine(order, { journals: store, clock }).open('o', { input: { amount: 1 } });
    await first.close();
    clock.increment(31 * 86_400_000);
    const second = await createDurableMachine(order, { journals: store, clock, timeWithoutProcess }).open('o');
    expect(second.getSnapshot().context.reminders).toBe(reminders);
  });

  it('wakes actors whose timer is due or whose call was interrupted, and no others [D4]', async () => {
    const store = journals();
    const clock = clockAt('2026-01-01T00:00:00Z');
    const orders = createDurableMachine(order, { journals: store, clock });
    for (const id of ['due', 'later']) await (await orders.open(id, { input: { amount: 1 } })).close();
    const busy = await orders.open('interrupted', { input: { amount: 1 } });
    void busy.send({ type: 'APPROVE' });
    await busy.close();
    clock.increment(29 * 86_400_000);
    const later = await orders.open('later');
    await later.send({ type: 'REJECT' });
    const other = createDurableMachine(order, { journals: store, clock });
    expect(await other.wake()).toEqual(['interrupted']);
    clock.increment(2 * 86_400_000);
    expect(await other.wake()).toEqual(['due']);
    expect(await other.wake()).toEqual([]);
    expect((await other.replay('due')).snapshot.context.reminders).toBe(1);
  });

  it('forks: the same past, another event', async () => {
    const orders = createDurableMachine(order, { journals: journals() });
    const actor = await orders.open('o', { input: { amount: 1 } });
    await actor.send({ type: 'APPROVE' });
    await actor.output;
    const fork = await orders.fork('o', { at: 0, event: { type: 'REJECT' }, id: 'f' });
    expect(fork.getSnapshot().value).toBe('rejected');
    expect((await orders.list()).find(({ id }) => id === 'f')?.forkedFrom).toEqual({ actorId: 'o', seq: 0 });
    expect((await orders.replay('f')).divergence).toBeNull();
    await expect(orders.fork('o', { at: 99 })).rejects.toMatchObject({ code: 'invalid_option' });
  });
});

describe('another version of a machine', () => {
  const older = createMachine({
    id: 'm',
    version: '1',
    initial: 'a',
    states: { a: { on: { GO: 'b' } }, b: { on: { GO: 'c' } }, c: {} },
  });
  const newer = createMachine({
    id: 'm',
    version: '2',
    initial: 'a',
    states: { a: { on: { GO: 'x' } }, x: { on: { GO: 'c' } }, c: {} },
  });
  const same = createMachine({
    id: 'm',
    version: '3',
    initial: 'a',
    states: { a: { on: { GO: 'b', NO: 'c' } }, b: { on: { GO: 'c' } }, c: {} },
  });

  async function recorded() {
    const store = journals();
    const actor = await createDurableMachine(older, { journals: store }).open('x');
    await actor.send({ type: 'GO' });
    await actor.close();
    return store;
  }

  it('does not open a journal that it would continue differently, and names the first difference [D9]', async () => {
    const durable = createDurableMachine(newer, { journals: await recorded() });
    await expect(durable.open('x')).rejects.toMatchObject({
      code: 'diverged',
      message: expect.stringMatching(
        /^actor x: .* Entry 2: expected .*"target":\["m.b"\].*; received .*"target":\["m.x"\].* the machine has changed since/u,
      ),
    });
    expect((await durable.replay('x')).divergence).toMatchObject({ seq: 2 });
  });

  it('continues a journal on its own version [D9]', async () => {
    const durable = createDurableMachine(newer, {
      journals: await recorded(),
      versions: { '1': older },
    });
    const actor = await durable.open('x');
    await actor.send({ type: 'GO' });
    expect(actor.getSnapshot().value).toBe('c');
  });

  it('continues a journal whose replay does not differ [D9]', async () => {
    const durable = createDurableMachine(same, { journals: await recorded() });
    expect((await durable.open('x')).getSnapshot().value).toBe('b');
  });
});

describe('what cannot be durable', () => {
  const durable = (machine: object) => createDurableMachine(createMachine(machine), { journals: journals() });

  it('is named when the machine is created [D5]', () => {
    expect(() =>
      durable({
        id: 'm',
        context: { cart: { seen: [() => 1] } },
        initial: 'a',
        states: { a: { invoke: { src: 'pay' }, after: { patience: 'a' }, on: { GO: { guard: 'isRich' } } } },
      }),
    ).toThrow(
      'The machine "m" cannot be durable: actor "pay" is not provided; delay "patience" is not provided; guard "isRich" is not provided; context.cart.seen[0]: expected JSON, or a value of a codec; received a function. Store plain data, or add a codec.',
    );
  });

  it('is named with its path in the first context, in an input and in an event [D5]', async () => {
    class Money {}
    const machine = durable({ context: () => ({ cart: { price: new Money() } }) });
    await expect(machine.open('x')).rejects.toMatchObject({
      code: 'not_durable',
      message: expect.stringContaining('context of x.cart.price: expected JSON'),
    });
    const orders = createDurableMachine(order, { journals: journals() });
    await expect(orders.open('x', { input: { amount: 1, sign: Symbol('s') } as never })).rejects.toMatchObject({
      message: expect.stringContaining('input.sign: expected JSON, or a value of a codec; received Symbol(s)'),
    });
    const actor = await orders.open('y', { input: { amount: 1 } });
    await expect(actor.send({ type: 'APPROVE', by: new Money() } as never)).rejects.toMatchObject({
      message: expect.stringContaining(
        'event for y.by: expected JSON, or a value of a codec; received an instance of Money',
      ),
    });
  });

  it('ends an actor whose context can no longer be stored, even in a replay [D5]', async () => {
    const machine = durable({
      context: { f: null },
      on: { GO: { actions: assign({ f: () => () => 1 }) } },
    });
    const actor = await machine.open('x');
    await actor.send({ type: 'GO' } as never);
    await expect(actor.output).rejects.toMatchObject({
      code: 'not_durable',
      message: expect.stringContaining('context of x.f'),
    });
    expect((await machine.replay('x')).divergence).toBeNull();
  });

  it('is stored by a codec of its class [D5]', async () => {
    class Money {
      readonly cents: number;
      constructor(cents: number) {
        this.cents = cents;
      }
    }
    const machine = setup({
      types: { context: {} as { price: Money | null }, events: {} as { type: 'PRICE'; price: Money } },
    }).createMachine({
      context: { price: null },
      on: { PRICE: { actions: assign({ price: ({ event }) => event.price }) } },
    });
    const store = journals();
    const codecs = [
      {
        name: 'Money',
        is: (value: unknown): value is Money => value instanceof Money,
        encode: (money: Money) => money.cents,
        decode: (cents: number) => new Money(cents),
      },
    ];
    const first = await createDurableMachine(machine, { journals: store, codecs }).open('x');
    await first.send({ type: 'PRICE', price: new Money(5) });
    await first.close();
    const second = await createDurableMachine(machine, { journals: store, codecs }).open('x');
    expect(second.getSnapshot().context.price).toEqual(new Money(5));
    expect(second.getSnapshot().context.price).toBeInstanceOf(Money);
  });
});

describe('an actor whose journal fails', () => {
  it('does nothing that is not stored, and rejects sent events [D6]', async () => {
    const calls: string[] = [];
    const machine = setup({
      actors: { call: fromPromise(async () => void calls.push('called')) },
      actions: { mail: () => void calls.push('mailed') },
    }).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { entry: 'mail', invoke: { src: 'call' } } },
    });
    const store = journals();
    let failure: string | null = null;
    const broken = {
      ...store,
      create: (id: string) => {
        const writer = store.create(id);
        return {
          ...writer,
          get failure() {
            return failure;
          },
          isFenced: true,
        };
      },
    };
    const actor = await createDurableMachine(machine, { journals: broken }).open('x');
    failure = 'its lock was taken over by process 7';
    await expect(actor.send({ type: 'GO' })).rejects.toMatchObject({
      code: 'journal_fenced',
      message: 'actor x: its lock was taken over by process 7',
    });
    await expect(actor.send({ type: 'GO' })).rejects.toBeInstanceOf(PostChainError);
    expect(calls).toEqual([]);
  });
});

describe('an effect that throws', () => {
  it('ends its actor with the error, and the parent handles it, once [D3]', async () => {
    let count = 0;
    const child = setup({
      actions: {
        mail: () => {
          count += 1;
          throw new Error('no mail');
        },
      },
    }).createMachine({ id: 'child', on: { GO: { actions: 'mail' } } });
    const machine = setup({ actors: { child } }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: { src: 'child', id: 'c', onError: 'failed' },
          on: { GO: { actions: sendTo('c', { type: 'GO' }) } },
        },
        failed: {},
      },
    });
    const store = journals();
    const durable = createDurableMachine(machine, { journals: store });
    const actor = await durable.open('x');
    await actor.send({ type: 'GO' });
    expect(actor.getSnapshot().value).toBe('failed');
    await actor.close();
    const again = await createDurableMachine(machine, { journals: store }).open('x');
    expect([again.getSnapshot().value, count]).toEqual(['failed', 1]);
  });
});

describe('stores', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'durable-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it.each([
    ['files', () => fileJournals(folder)],
    ['SQLite', () => sqliteJournals(join(folder, 'actors.db'))],
  ])('keep an actor in %s for the next process [D3]', async (_, create) => {
    const first = await createDurableMachine(order, { journals: create() }).open('o', { input: { amount: 7 } });
    await first.close();
    const orders = createDurableMachine(order, { journals: create() });
    const second = await orders.open('o');
    await second.send({ type: 'APPROVE' });
    expect(await second.output).toBe(7);
    expect((await orders.list())[0]).toMatchObject({ id: 'o', status: 'done' });
    expect((await orders.replay('o')).divergence).toBeNull();
  });
});
