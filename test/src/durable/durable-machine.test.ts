import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type AnyEventObject,
  type AnyStateMachine,
  and,
  assign,
  createActor,
  createMachine,
  forwardTo,
  fromCallback,
  fromObservable,
  fromPromise,
  not,
  type ProvidedActor,
  raise,
  setup,
  spawnChild,
} from 'xstate';
import {
  addNote,
  checkDeploy,
  createDurableMachine,
  type DurableEntry,
  type DurableMachine,
  defineGuard,
  fileJournals,
  idempotencyKey,
  memoryJournals,
  PostChainError,
  recordOnce,
} from '../../../src/entries/durable.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { anError, throwing } from '../../support/errors.ts';
import { JOURNAL_STORES, slowJournals, withWriters, writeJournal } from '../../support/journal-files.ts';
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
const inMemory = <Machine extends AnyStateMachine>(machine: Machine): DurableMachine<Machine> =>
  createDurableMachine(machine, { journals: journals() });
const clockAt = (iso: string): TestClock => {
  const clock = new TestClock();
  clock.set(Date.parse(iso));
  return clock;
};
const typesOf = (entries: readonly DurableEntry[]): readonly string[] => entries.map(({ type }) => type);

describe('a durable machine', () => {
  it('starts an actor, stores what enters it, and ends with its output [D1]', async () => {
    const orders = inMemory(order);
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
    const orders = inMemory(order);
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
    const actor = await inMemory(order).open('o', { input: { amount: 400 } });
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
    const durable = inMemory(machine);
    const actor = await durable.open('x');
    actor.ref.subscribe((snapshot) => {
      if (snapshot.matches('b')) actor.ref.send({ type: 'NEXT' });
    });
    await actor.send({ type: 'GO' });
    expect(actor.getSnapshot().value).toBe('c');
    expect((await durable.replay('x')).divergence).toBeNull();
  });

  it('records each candidate of a decision with its result and the values that its guard compared [D7]', async () => {
    const actor = await inMemory(order).open('o', { input: { amount: 400 } });
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
      effects: [],
      timers: [
        { actor: '', event: 'xstate.after.patience.order.waiting', dueAtMs: Date.parse('2026-01-31T00:00:00Z') },
      ],
      events: ['APPROVE', 'REJECT'],
      approvals: [],
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

  it('fires a timer on time if the clock of the first process was ahead and the actor is opened every day [D4]', async () => {
    const store = journals();
    const ahead = createDurableMachine(order, { journals: store, clock: clockAt('2026-06-01T00:00:00Z') });
    const first = await ahead.open('o', { input: { amount: 1 } });
    await first.close();
    const clock = clockAt('2026-01-01T00:00:00Z');
    const behind = createDurableMachine(order, { journals: store, clock });
    for (let day = 0; day < 31; day += 1) {
      await (await behind.open('o')).park();
      clock.increment(86_400_000);
    }
    expect((await behind.open('o')).getSnapshot().context.reminders).toBe(1);
  });

  it('lists an actor as due if its delay ended while the computer was suspended [D4]', async () => {
    const orders = inMemory(order);
    await (await orders.open('o', { input: { amount: 1 } })).park();
    expect(await orders.due()).toEqual([]);
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 30 * 86_400_000);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await orders.due()).toEqual([{ id: 'o', crashes: 0 }]);
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
    expect(await Promise.all([other.wake(), other.wake()])).toEqual([['due'], ['due']]);
    expect(await other.wake()).toEqual([]);
    const resumed = (await store.open('due')).entries.filter(({ type }) => type === 'resumed');
    expect(resumed).toHaveLength(1);
    expect((await other.replay('due')).snapshot.context.reminders).toBe(1);
  });

  it('forks: the same past, another event', async () => {
    const orders = inMemory(order);
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
    await expect(durable.open('x')).rejects.toMatchObject(
      anError(
        'diverged',
        /^actor x: .* entry 2: the journal has the transition from a to b; the machine now does the transition from a to x\. .* the machine has changed since/u,
      ),
    );
    expect((await durable.replay('x')).divergence).toMatchObject({ seq: 2 });
  });

  it('is checked before it is deployed: each actor that has not ended, and why it cannot continue', async () => {
    const store = await recorded();
    const ended = await createDurableMachine(older, { journals: store }).open('y');
    await ended.stop();
    const check = (machine: typeof older) => checkDeploy(createDurableMachine(machine, { journals: store }));
    expect(await check(same)).toEqual([{ id: 'x', status: 'waiting', problem: null }]);
    expect(await check(newer)).toEqual([
      {
        id: 'x',
        status: 'waiting',
        problem: expect.stringMatching(/^entry 2: the journal has .* to b; .* to x\. Likely cause: the machine has/u),
      },
    ]);
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

  it('compares the names of actions and guards, but not those of inline functions, which a minifier changes [D9]', async () => {
    const build = (inline: string, action = 'mail', guard = 'isOpen') => {
      const { [inline]: isInline } = { [inline]: () => true };
      const go = [
        { guard, target: 'a' },
        { guard: isInline as () => boolean, actions: [isInline as () => boolean, action], target: 'b' },
      ];
      return createMachine({ id: 'm', initial: 'a', states: { a: { on: { GO: go } }, b: {} } }).provide({
        actions: { [action]: () => {} },
        guards: { [guard]: () => false },
      });
    };
    const store = journals();
    const actor = await createDurableMachine(build('isBig'), { journals: store }).open('x');
    await actor.send({ type: 'GO' });
    await actor.close();
    expect(actor.entries.slice(2, 5)).toMatchObject([{ action: 'isBig' }, { action: 'mail' }, { type: 'transition' }]);
    const divergenceOf = async (machine: typeof older) =>
      (await createDurableMachine(machine, { journals: store }).replay('x')).divergence;
    expect(await divergenceOf(build('t') as never)).toBeNull();
    expect(await divergenceOf(build('isBig', 'post') as never)).toMatchObject({ seq: 3 });
    expect(await divergenceOf(build('isBig', 'mail', 'isShut') as never)).toMatchObject({ seq: 4 });
  });

  it('continues a journal whose calls and end were described differently [D9]', async () => {
    const store = journals();
    const started = await createDurableMachine(order, { journals: store }).open('o', { input: { amount: 1 } });
    await started.send({ type: 'APPROVE' });
    await started.output;
    const described = createDurableMachine(order, {
      journals: store,
      describeCall: (source) => source,
      describeEnd: ({ value }) => value,
    });
    expect((await described.replay('o')).divergence).toBeNull();
  });
});

describe('what cannot be durable', () => {
  const durable = (machine: object) => inMemory(createMachine(machine));

  it('is named when the machine is created [D5]', () => {
    expect(() =>
      durable({
        id: 'm',
        context: { cart: { seen: [() => 1] } },
        initial: 'a',
        states: {
          a: {
            invoke: { src: 'pay' },
            after: { patience: 'a' },
            entry: [spawnChild('work'), raise({ type: 'GO' }, { delay: 'later' as never })],
            on: { GO: { guard: and(['isRich', not('isOld')]), actions: 'mail' } },
          },
        },
      }),
    ).toThrow(
      'The machine "m" cannot be durable: actor "pay" is not provided; delay "patience" is not provided; actor "work" is not provided; delay "later" is not provided; guard "isRich" is not provided; guard "isOld" is not provided; action "mail" is not provided; context.cart.seen[0]: expected JSON, or a value of a codec; received a function. Add a codec.',
    );
  });

  it('is named with its path in the first context [D5]', async () => {
    class Money {}
    await expect(durable({ context: () => ({ cart: { price: new Money() } }) }).open('x')).rejects.toMatchObject(
      anError('not_durable', 'context of x.cart.price: expected JSON'),
    );
  });

  it('ends an actor whose context can no longer be stored, even in a replay [D5]', async () => {
    const machine = durable({
      context: { f: null },
      on: { GO: { actions: assign({ f: () => () => 1 }) } },
    });
    const actor = await machine.open('x');
    await actor.send({ type: 'GO' } as never);
    await expect(actor.output).rejects.toMatchObject(anError('not_durable', 'context of x.f'));
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
    let failure: string | null = null;
    const broken = withWriters(journals(), (writer) => ({
      ...writer,
      get failure() {
        return failure;
      },
      isFenced: true,
    }));
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

describe.each(JOURNAL_STORES)('an actor in %s', (_, create) => {
  it('is woken once for each due delay [D4]', async () => {
    const clock = clockAt('2026-01-01T00:00:00Z');
    const orders = createDurableMachine(order, { journals: create(), clock });
    await (await orders.open('o', { input: { amount: 7 } })).close();
    expect(await orders.wake()).toEqual([]);
    for (let month = 0; month < 3; month += 1) {
      clock.increment(30 * 86_400_000);
      expect(await orders.wake()).toEqual(['o']);
      expect(await orders.wake()).toEqual([]);
    }
    const { context } = (await orders.replay('o')).snapshot;
    expect(context.reminders).toBe(3);
  });

  it('stores a note between two steps without waiting for the next step', async () => {
    const store = create();
    const actor = await createDurableMachine(order, { journals: store }).open('o', { input: { amount: 7 } });
    actor.note('half of the text');
    const stored = [];
    for await (const entry of store.read('o')) stored.push(entry);
    expect(stored.at(-1)).toMatchObject({ type: 'note', note: 'half of the text' });
    expect(stored).toEqual(actor.entries);
    await actor.close();
  });

  it('is not kept if its first step fails', async () => {
    const orders = createDurableMachine(order, { journals: create() });
    await expect(orders.open('o', { input: undefined as never })).rejects.toThrow(TypeError);
    expect((await orders.open('o', { input: { amount: 1 } })).getSnapshot().value).toBe('waiting');
    expect(await orders.list()).toHaveLength(1);
  });
});

it('a delay of an actor that is often closed counts the time in which it was open [D4]', async () => {
  const clock = clockAt('2026-01-01T00:00:00Z');
  const store = journals();
  const day = 86_400_000;
  let reminders = 0;
  for (let opened = 0; opened < 62; opened += 1) {
    const orders = createDurableMachine(order, { journals: store, clock, timeWithoutProcess: 'pauses' });
    const actor = await orders.open('o', { input: { amount: 7 } });
    clock.increment(day / 2);
    ({ reminders } = actor.getSnapshot().context);
    const [timer] = actor.pending.timers;
    expect(timer?.dueAtMs).toBeGreaterThanOrEqual(clock.now());
    await actor.close();
    clock.increment(10 * day);
  }
  expect(reminders).toBe(1);
});

it('a fork whose other input ends it in the past has ended [D5]', async () => {
  const machine = setup({
    types: { input: {} as { max: number }, context: {} as { max: number } },
    actors: { pay: fromPromise(async () => 'paid') },
  }).createMachine({
    id: 'bill',
    context: ({ input }) => ({ max: input.max }),
    initial: 'checking',
    states: {
      checking: { always: [{ guard: ({ context }) => context.max < 10, target: 'refused' }, { target: 'paying' }] },
      paying: { invoke: { src: 'pay', onDone: 'waiting' } },
      waiting: {},
      refused: { type: 'final' },
    },
  });
  const bills = inMemory(machine);
  const bill = await bills.open('b', { input: { max: 20 } });
  await expect.poll(() => bill.getSnapshot().value).toBe('waiting');
  await bill.close();
  const again = await bills.open('b');
  const fork = await bills.fork('b', { at: again.entries.length - 1, input: { max: 5 }, id: 'f' });
  expect(fork.entries.map(({ type }) => type)).toEqual(['start', 'transition', 'end']);
  await fork.output;
  expect((await bills.list()).find(({ id }) => id === 'f')?.status).toBe('done');
});

describe('custom code', () => {
  const rolls = () =>
    assign<{ rolls: number[] }, AnyEventObject, undefined, AnyEventObject, ProvidedActor>({
      rolls: ({ context }) => [...context.rolls, Math.random()],
    });
  const dice = createMachine({
    types: {} as { context: { rolls: number[] } },
    context: { rolls: [] },
    initial: 'a',
    states: {
      a: {
        invoke: { src: fromCallback(() => () => void Math.random()) },
        on: { GO: { target: 'b', actions: rolls() } },
      },
      b: { entry: rolls(), on: { GO: { actions: rolls() } } },
    },
  });

  it('that changes its input does not change the context', async () => {
    const fill = fromPromise<void, { items: string[] }>(async ({ input }) => void input.items.push('new'));
    const machine = setup({ actors: { fill } }).createMachine({
      context: { items: ['old'] },
      initial: 'a',
      states: {
        a: { invoke: { src: 'fill', input: ({ context }) => context as never, onDone: 'b' } },
        b: { type: 'final' },
      },
      output: ({ context }) => context,
    });
    const durable = inMemory(machine);
    for (const id of ['first', 'second']) expect(await (await durable.open(id)).output).toEqual({ items: ['old'] });
  });

  it('of observers and clean-ups takes no random numbers from the machine [D2]', async () => {
    const durable = inMemory(dice);
    const actor = await durable.open('x');
    actor.ref.subscribe(() => void Math.random());
    await actor.send({ type: 'GO' });
    await actor.send({ type: 'GO' });
    expect((await durable.replay('x')).snapshot.context).toEqual(actor.getSnapshot().context);
  });

  it('that fails when it starts is not called again [D3]', async () => {
    let count = 0;
    const start = () => {
      count += 1;
      throw new Error('no');
    };
    const machine = createMachine({
      initial: 'a',
      states: { a: { invoke: { src: fromCallback(start), onError: 'b' } }, b: {} },
    });
    const store = journals();
    const first = await createDurableMachine(machine, { journals: store }).open('x');
    expect([first.getSnapshot().value, first.pending.activities]).toEqual(['b', []]);
    await first.close();
    await createDurableMachine(machine, { journals: store }).open('x');
    expect(count).toBe(1);
  });

  const unclean = throwing('already closed');
  it.each([
    ['a callback', fromCallback(() => unclean)],
    ['an observable', fromObservable(() => ({ subscribe: () => ({ unsubscribe: unclean }) }))],
  ])('that fails when it cleans up %s is logged; with XState alone, it ends the machine [D2]', async (_, src) => {
    const child = createMachine({ initial: 'a', states: { a: { invoke: { src }, on: { GO: 'b' } }, b: {} } });
    const machine = createMachine({
      invoke: { id: 'c', src: child },
      initial: 'a',
      states: {
        a: { on: { GO: { target: 'b', actions: forwardTo('c') } } },
        b: { on: { END: 'f' } },
        f: { type: 'final' },
      },
    });
    const alone = createActor(machine);
    alone.subscribe({ error: () => {} });
    alone.start().send({ type: 'GO' });
    expect(alone.getSnapshot()).toMatchObject({ status: 'error', error: { message: 'already closed' } });

    const logged: unknown[][] = [];
    const options = { journals: journals(), logger: (...args: unknown[]) => void logged.push(args) };
    const first = await createDurableMachine(machine, options).open('x');
    await first.send({ type: 'GO' });
    expect(first.getSnapshot().value).toBe('b');
    await first.close();
    const again = await createDurableMachine(machine, options).open('x');
    expect(again.getSnapshot().value).toBe('b');
    await again.send({ type: 'END' });
    expect([again.getSnapshot().status, logged]).toEqual([
      'done',
      [[expect.stringContaining('x/c/0.(machine).a'), new Error('already closed')]],
    ]);
  });

  it('that fails when it receives an event is not called again, and what it has sent counts [D3]', async () => {
    const received: string[] = [];
    const machine = createMachine({
      invoke: {
        id: 'c',
        src: fromCallback(({ sendBack, receive }) =>
          receive(({ type }) => {
            received.push(type);
            sendBack({ type: 'SENT' });
            throw new Error('no');
          }),
        ),
        onError: '.failed',
      },
      initial: 'a',
      on: { GO: { actions: [forwardTo('c'), forwardTo('c')] } },
      states: { a: { on: { SENT: 'sent' } }, sent: {}, failed: {} },
    });
    const store = journals();
    const first = await createDurableMachine(machine, { journals: store }).open('x');
    await first.send({ type: 'GO' });
    expect(first.entries.filter(({ type }) => type === 'activity-event' || type === 'failed')).toMatchObject([
      { type: 'activity-event', event: { type: 'SENT' } },
      { type: 'failed', actor: '/c', error: { value: { message: 'no' } } },
    ]);
    expect([first.getSnapshot().value, first.pending.activities]).toEqual(['failed', []]);
    await first.close();
    const again = await createDurableMachine(machine, { journals: store }).open('x');
    expect([again.getSnapshot().value, received]).toEqual(['failed', ['GO']]);
  });

  class Response {}
  const circular: Error & { self?: unknown } = new Error('circular');
  circular.self = circular;
  it.each([
    ['a symbol', Symbol('s'), { code: 'not_durable' }],
    ['an error with a response', Object.assign(new Error('x'), { code: 'E', response: new Response() }), { code: 'E' }],
    ['an error in itself', circular, { message: 'circular' }],
  ])('that throws %s ends its actor [D5]', async (_, thrown, expected) => {
    const fail = (): never => {
      throw thrown;
    };
    const machine = createMachine({ on: { EFFECT: { actions: () => fail() }, ASSIGN: { actions: assign(fail) } } });
    for (const type of ['EFFECT', 'ASSIGN']) {
      const durable = inMemory(machine);
      const actor = await durable.open('x');
      expect(await actor.send({ type })).toBe(true);
      await actor.output.catch(() => {});
      expect(actor.entries.find(({ type }) => type === 'end')).toMatchObject({
        status: 'error',
        error: { value: expected },
      });
      expect((await durable.replay('x')).divergence).toBeNull();
    }
  });
});

describe('an idempotency key', () => {
  it('is that of the interrupted call after a restart, and not that of a deleted actor with the same id [D3]', async () => {
    const keys: string[] = [];
    const effectKeys: string[] = [];
    const pay = fromPromise(async ({ self }) => {
      keys.push(idempotencyKey({ self }));
      await new Promise(() => {});
    });
    const machine = setup({ actors: { pay } }).createMachine({
      entry: (args) => void effectKeys.push(idempotencyKey(args)),
      invoke: { src: 'pay' },
    });
    const durable = inMemory(machine);
    for (const _ of ['started', 'restarted']) await (await durable.open('x')).close();
    await durable.delete('x');
    await (await durable.open('x')).close();
    const [first, again, other] = keys;
    expect(first).toMatch(/^x:[0-9a-f]{16}:activity:0$/u);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
    expect(effectKeys[1]).not.toBe(effectKeys[0]);
  });
});

describe('notes and descriptions', () => {
  const circular: { self?: object } = {};
  circular.self = circular;

  it.each([5n, circular, { at: new Date(0) }, () => {}, undefined])(
    'that are not JSON leave no trace: the note %o is rejected, and null describes the call',
    async (value) => {
      const thrown: unknown[] = [];
      const note = fromPromise(async ({ self }) => {
        try {
          addNote({ self }, value as never);
        } catch (error) {
          thrown.push(error);
        }
      });
      const machine = setup({ actors: { note } }).createMachine({
        initial: 'a',
        states: { a: { on: { GO: 'b' } }, b: { invoke: { src: 'note', onDone: 'c' } }, c: { type: 'final' } },
      });
      const logged: unknown[] = [];
      const durable = createDurableMachine(machine, {
        journals: fileJournals(temporaryFolder()),
        describeCall: () => value as never,
        logger: (...given) => void logged.push(given[0]),
      });
      const actor = await durable.open('x');
      expect(() => actor.note(value as never)).toThrow('note of x');
      await actor.send({ type: 'GO' });
      await actor.output;
      expect(thrown).toMatchObject([{ code: 'not_durable', message: expect.stringContaining('note of x/0.') }]);
      expect(typesOf(actor.entries)).not.toContain('note');
      expect(logged).toEqual(value === undefined ? [] : ['describeCall failed; its result is not stored:']);
      expect((await durable.replay('x')).divergence).toBeNull();
    },
  );
});

describe('recordOnce', () => {
  const reading = (work: () => unknown) =>
    createMachine({
      types: {} as { context: { read: unknown } },
      context: { read: null },
      on: { GO: { actions: assign({ read: () => recordOnce('rate', work) }) } },
    });

  it.each([new Date(5), null, undefined])('returns the same value live and after a restart: %o [D2]', async (read) => {
    const store = journals();
    const host = (value: unknown) =>
      createDurableMachine(
        reading(() => value),
        { journals: store },
      );
    const first = await host(read).open('x');
    await first.send({ type: 'GO' });
    expect(first.getSnapshot().context).toStrictEqual({ read });
    await first.close();
    const second = await host('again').open('x');
    expect(second.getSnapshot().context).toStrictEqual({ read });
  });

  it('rejects a value without a codec, with its path [D5]', async () => {
    const machine = inMemory(reading(() => ({ now: { in: () => 1 } })));
    const actor = await machine.open('x');
    await actor.send({ type: 'GO' });
    await expect(actor.output).rejects.toMatchObject(anError('not_durable', 'value of "rate".now.in: expected JSON'));
    expect((await machine.replay('x')).divergence).toBeNull();
  });
});

describe('a context', () => {
  class Response {}
  const inItself: { self?: object } = {};
  inItself.self = inItself;
  it.each([
    ['an instance of a class', new Response()],
    ['a circular object', inItself],
  ])('with %s fails every actor that has it [D5]', async (_, value) => {
    const shared = { value };
    const child = createMachine({ context: () => ({ shared }) });
    const onError = { actions: assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 }) };
    const invoke = ['one', 'other'].map((id) => ({ id, src: child, onError }));
    const machine = createMachine({ context: { n: 0 }, invoke });
    const actor = await inMemory(machine).open('x');
    expect(actor.getSnapshot().context).toEqual({ n: 2 });
  });
});

describe('an end', () => {
  const machine = createMachine({
    initial: 'a',
    states: { a: { on: { GO: 'b' } }, b: { type: 'final', entry: () => {} } },
  });

  it('whose output cannot be stored is an error [D5]', async () => {
    const durable = inMemory(createMachine({ ...machine.config, output: () => Symbol('s') } as never));
    const actor = await durable.open('x');
    expect(await actor.send({ type: 'GO' } as never)).toBe(true);
    await expect(actor.output).rejects.toMatchObject({ code: 'not_durable' });
    expect((await durable.replay('x')).divergence).toBeNull();
    expect((await durable.list())[0]?.status).toBe('error');
  });

  it('is stored even if `describeEnd` throws, and a wait if `describeWait` throws', async () => {
    const logged: unknown[] = [];
    const fail = () => failWith('no description');
    const options = {
      describeEnd: fail,
      describeWait: fail,
      logger: (...given: unknown[]) => void logged.push(given[0]),
    };
    const durable = createDurableMachine(machine, { journals: journals(), ...options });
    expect(await (await durable.open('x')).park()).toBe(true);
    expect(await (await durable.open('x')).send({ type: 'GO' })).toBe(true);
    expect((await durable.list())[0]?.status).toBe('done');
    expect(logged).toEqual([
      'describeWait failed; its result is not stored:',
      'describeEnd failed; its result is not stored:',
    ]);
  });

  it('whose effect was interrupted is woken [D4]', async () => {
    const store = journals();
    const actor = await createDurableMachine(machine, { journals: store }).open('x');
    await actor.send({ type: 'GO' });
    await actor.close();
    const entries = actor.entries.filter(({ type }) => type !== 'effect-end');
    await writeJournal(store, 'killed', entries);
    const durable = createDurableMachine(machine, { journals: store });
    expect(await durable.wake()).toEqual(['killed']);
    expect(await durable.wake()).toEqual([]);
    expect((await durable.list()).map(({ status }) => status)).toEqual(['done', 'done']);
  });

  it('with an effect can be listed, replayed and forked', async () => {
    const durable = inMemory(machine);
    const actor = await durable.open('x');
    await actor.send({ type: 'GO' });
    await actor.close();
    await (await durable.fork('x', { at: actor.entries.length - 1, id: 'f' })).close();
    expect((await durable.replay('f')).divergence).toBeNull();
    expect((await durable.list()).map(({ status }) => status)).toEqual(['done', 'done']);
    await durable.open('open');
    await expect(durable.fork('x', { at: 0, id: 'open' })).rejects.toMatchObject({ code: 'journal_exists' });
  });

  it('in the first step leaves room for another actor with the same id', async () => {
    const durable = inMemory(createMachine({ initial: 'a', states: { a: { type: 'final' } } }));
    const first = await durable.open('x');
    await durable.delete('x');
    expect(await durable.open('x')).not.toBe(first);
    expect(await durable.list()).toHaveLength(1);
  });
});

describe('opening and closing', () => {
  it('a delay of 0 in a loop lets events through', async () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { after: { 0: { target: 'a', reenter: true } }, on: { GO: 'b' } }, b: {} },
    });
    const actor = await inMemory(machine).open('x');
    expect(await actor.send({ type: 'GO' })).toBe(true);
    expect(actor.getSnapshot().value).toBe('b');
  });

  it('leaves the effects of a step that is being stored to the next process [D3]', async () => {
    const calls: string[] = [];
    const machine = createMachine({ on: { GO: { actions: () => void calls.push('mailed') } } });
    const durable = createDurableMachine(machine, { journals: slowJournals() });
    const actor = await durable.open('x');
    const sent = actor.send({ type: 'GO' });
    void actor.close();
    const again = await durable.open('x');
    expect([await sent, calls]).toEqual([true, ['mailed']]);
    expect(await again.send({ type: 'NO' })).toBe(true);
  });

  it('stores no note after the step that ends the actor', async () => {
    const ends = createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final' } } });
    const durable = createDurableMachine(ends, { journals: slowJournals() });
    const actor = await durable.open('x');
    const sent = actor.send({ type: 'GO' });
    actor.note('late');
    await sent;
    await actor.close();
    expect((await durable.list())[0]?.status).toBe('done');
  });

  it('deletes no journal that another process has created meanwhile', async () => {
    let failure: string | null = null;
    const deleted: string[] = [];
    const write = (): void => {
      failure = 'actor "x" already exists';
    };
    const create = () => ({
      get failure() {
        return failure;
      },
      write,
      close: () => {},
    });
    const store = { ...journals(), create, delete: async (id: string) => void deleted.push(id) };
    await expect(createDurableMachine(createMachine({}), { journals: store }).open('x')).rejects.toThrow(
      'already exists',
    );
    expect(deleted).toEqual([]);
  });

  it.each([
    ['throws', () => failWith('disk full')],
    ['rejects', async () => failWith('disk full')],
  ])('rejects the output if the store %s at the last step [D6]', async (_, fail) => {
    let isFull = false;
    const machine = createMachine({
      on: { END: '.ended' },
      initial: 'on',
      states: { on: {}, ended: { type: 'final' } },
    });
    const filling = withWriters(journals(), (writer) => ({
      ...writer,
      write: (entries) => (isFull ? fail() : writer.write(entries)),
    }));
    const actor = await createDurableMachine(machine, { journals: filling }).open('x');
    isFull = true;
    await expect(actor.send({ type: 'END' })).rejects.toMatchObject({ code: 'journal_failed' });
    await expect(actor.output).rejects.toMatchObject({ code: 'journal_failed', message: 'actor x: disk full' });
  });

  it('wakes the others if one cannot be opened, and logs its error [D4]', async () => {
    class Money {}
    const money = (decode: () => Money) => ({
      name: 'Money',
      is: (value: unknown) => value instanceof Money,
      encode: () => 1,
      decode,
    });
    const clock = clockAt('2026-01-01T00:00:00Z');
    const store = journals();
    const machine = createMachine({ initial: 'a', states: { a: { after: { 1000: 'b' } }, b: {} } });
    const options = { journals: store, clock };
    const first = createDurableMachine(machine, { ...options, codecs: [money(() => new Money())] });
    for (const id of ['damaged', 'undecodable', 'due'])
      await (await first.open(id, { input: id === 'undecodable' ? new Money() : id } as never)).close();
    clock.increment(1000);
    const open = async (id: string) => {
      if (id === 'damaged') throw new PostChainError('invalid_journal', 'damaged');
      return store.open(id);
    };
    const logged: unknown[] = [];
    const second = createDurableMachine(machine, {
      ...options,
      journals: { ...store, open },
      codecs: [money(() => failWith('no longer decoded'))],
      logger: (...given) => void logged.push(given.map(String)),
    });
    expect(await second.wake()).toEqual(['due']);
    expect(logged).toEqual([
      ['actor damaged could not be continued:', 'PostChainError: damaged'],
      ['actor undecodable could not be continued:', 'Error: no longer decoded'],
    ]);
  });

  it('lists an interrupted actor as due even if its journal cannot be read [D4]', async () => {
    const store = journals();
    const actor = await createDurableMachine(createMachine({ id: 'm' }), { journals: store }).open('x');
    await writeJournal(store, 'killed', actor.entries);
    const read = () => failWith('disk failure') as never;
    const durable = createDurableMachine(createMachine({ id: 'm' }), { journals: { ...store, read } });
    expect(await durable.due()).toEqual([{ id: 'killed', crashes: 0 }]);
  });
});

describe('an actor that is being opened', () => {
  it.each([
    ['started', (durable: DurableMachine<AnyStateMachine>) => durable.start('x')],
    [
      'forked to',
      (durable: DurableMachine<AnyStateMachine>, past: readonly DurableEntry[]) =>
        durable.fork(past, { at: 0, id: 'x' }),
    ],
  ])('cannot be %s as well', async (_, again) => {
    const durable = createDurableMachine<AnyStateMachine>(createMachine({}), { journals: journals() });
    const { entries } = await durable.open('original');
    const opening = durable.open('x');
    await expect((async () => again(durable, entries))()).rejects.toMatchObject({ code: 'journal_exists' });
    expect(await durable.open('x')).toBe(await opening);
  });
});

describe('a transition', () => {
  const never = (name: string) => Object.defineProperty(() => false, 'name', { value: name });

  it('is recorded with the candidates of inner states and wildcards [D7]', async () => {
    const machine = createMachine({
      initial: 'outer',
      states: {
        outer: {
          initial: 'inner',
          on: { 'a.b': { guard: never('exact'), target: 'end' }, 'a.*': { guard: never('partial') }, '*': 'end' },
          states: { inner: { on: { 'a.b': { guard: never('inner') } } } },
        },
        end: {},
      },
    });
    const actor = await inMemory(machine).open('x');
    await actor.send({ type: 'a.b' });
    const candidates = actor.entries.flatMap((entry) => (entry.type === 'transition' ? entry.candidates : []));
    expect(candidates.map(({ guard, result }) => `${guard} ${result}`)).toEqual([
      'inner false',
      'exact false',
      'partial false',
      'null taken',
    ]);
  });

  it('is not recorded if one of another region preempts it [D7]', async () => {
    const region = (target: string) => ({ initial: 'a', states: { a: { on: { GO: target } }, b: {} } });
    const machine = createMachine({
      initial: 'both',
      states: {
        both: { type: 'parallel', states: { left: region('#out'), right: region('b') } },
        out: { id: 'out' },
      },
    });
    const actor = await inMemory(machine).open('x');
    await actor.send({ type: 'GO' });
    expect(actor.entries.flatMap((entry) => (entry.type === 'transition' ? [entry.target] : []))).toEqual([['out']]);
  });
});

describe('an event', () => {
  const addItself = (map: Map<string, unknown>) => map.set('self', map);
  it.each([
    ['a circular map', () => addItself(new Map<string, unknown>())],
    ['arrays nested 100,000 levels deep', () => Array.from({ length: 100_000 }).reduce((inner) => [inner], [])],
  ])('with %s is rejected [D5]', async (_, create) => {
    const actor = await inMemory(createMachine({})).open('x');
    const value = create();
    await expect(actor.send({ type: 'GO', value } as never)).rejects.toMatchObject({ code: 'not_durable' });
  });
});

describe('a fork', () => {
  it('between two events of an effect counts each of them once [D3]', async () => {
    const machine = createMachine({
      types: {} as { context: { n: number } },
      context: { n: 0 },
      on: {
        GO: {
          actions: ({ self }) => {
            self.send({ type: 'ADD' });
            self.send({ type: 'ADD' });
          },
        },
        ADD: { actions: assign({ n: ({ context }) => context.n + 1 }) },
      },
    });
    const durable = inMemory(machine);
    const actor = await durable.open('x');
    await actor.send({ type: 'GO' });
    const at = actor.entries.findIndex(({ type }, index) => type === 'delivery' && index > 1);
    const fork = await durable.fork('x', { at });
    expect(fork.getSnapshot().context.n).toBe(2);
  });

  it.each([
    ['invalid_option', { typ: 'GO' }],
    ['invalid_option', 'GO'],
    ['not_durable', { type: 'GO', at: () => {} }],
  ])('is not created if its event cannot be sent: %s', async (code, event) => {
    const durable = inMemory(createMachine({ on: { GO: {} } }));
    await durable.open('x');
    await expect(durable.fork('x', { at: 0, id: 'f', event } as never)).rejects.toMatchObject({ code });
    expect((await durable.list()).map(({ id }) => id)).toEqual(['x']);
  });
});

describe('a fork with another input', () => {
  it('takes the results of calls that are the same, and executes the effects that differ [D3]', async () => {
    const log: string[] = [];
    const machine = setup({
      types: { input: {} as { isVip: boolean }, context: {} as { isVip: boolean; result: string } },
      actors: { cheap: fromPromise(async () => 'cheap'), dear: fromPromise(async () => 'dear') },
      actions: {
        greet: () => void log.push('greeted'),
        mailVip: () => void log.push('mailed vip'),
        mailOther: () => void log.push('mailed other'),
      },
    }).createMachine({
      context: ({ input }) => ({ ...input, result: '' }),
      initial: 'choosing',
      states: {
        choosing: {
          entry: 'greet',
          always: [{ guard: ({ context }) => context.isVip, target: 'vip' }, { target: 'other' }],
        },
        vip: { entry: 'mailVip', invoke: { id: 'call', src: 'dear', onDone: '#ended' } },
        other: { entry: 'mailOther', invoke: { id: 'call', src: 'cheap', onDone: '#ended' } },
        ended: { id: 'ended', type: 'final', entry: assign({ result: ({ event }) => event['output'] }) },
      },
      output: ({ context }) => context.result,
    });
    const durable = inMemory(machine);
    const actor = await durable.open('x', { input: { isVip: false } });
    expect(await actor.output).toBe('cheap');
    const at = actor.entries.findIndex(({ type }) => type === 'activity-event');
    const fork = await durable.fork('x', { at, id: 'f', input: { isVip: true } });
    expect(await fork.output).toBe('dear');
    expect(log).toEqual(['greeted', 'mailed other', 'mailed vip']);
  });

  it('takes recorded values by their names, and records those that are new [D3]', async () => {
    let calls = 0;
    const machine = createMachine({
      context: ({ input }) =>
        Object.fromEntries((input as readonly string[]).map((name) => [name, recordOnce(name, () => (calls += 1))])),
    });
    const durable = inMemory(machine);
    const actor = await durable.open('x', { input: ['a', 'b', 'c'] as never });
    const fork = await durable.fork('x', { at: actor.entries.length - 1, id: 'f', input: ['c', 'new', 'a'] as never });
    expect(fork.getSnapshot().context).toEqual({ c: 3, new: 4, a: 1 });
    expect((await durable.replay('f')).divergence).toBeNull();
  });
});

describe('wrong use', () => {
  const circular: { self?: object } = {};
  circular.self = circular;

  it.each(['effect:0:1', 7, 7n, '', 'x'.repeat(201)])(
    'does not suppress what an effect sends: the id %o of an event is rejected',
    async (id) => {
      const machine = createMachine({
        initial: 'idle',
        states: {
          idle: { on: { GO: { target: 'waiting', actions: ({ self }) => self.send({ type: 'ADD' }) } } },
          waiting: { on: { ADD: 'added' } },
          added: { type: 'final' },
        },
      });
      const actor = await inMemory(machine).open('x');
      await expect(actor.send({ type: 'OTHER' }, { id: id as string })).rejects.toMatchObject({
        code: 'invalid_option',
      });
      await actor.send({ type: 'GO' });
      await actor.output;
      expect(actor.getSnapshot().value).toBe('added');
    },
  );

  it.each([null, undefined, 'go', 10n, circular, {}, { type: 1 }, { type: 'xstate.stop' }])(
    'does not end an actor: the event %o is rejected, and nothing is stored',
    async (event) => {
      const actor = await inMemory(order).open('o', { input: { amount: 1 } });
      await expect(actor.send(event as never)).rejects.toMatchObject({ code: 'invalid_option' });
      expect([actor.getSnapshot().status, actor.entries.length]).toEqual(['active', 2]);
    },
  );

  it.each([
    [{}, 'journals: expected a journal store'],
    [undefined, 'options of createDurableMachine: expected an object'],
    [{ journals: './orders' }, /^journals: expected a journal store, .*; received ".\/orders"\.$/u],
    [{ journals: memoryJournals(), versions: [order] }, 'versions: expected an object of state machines by version'],
    [{ journals: memoryJournals(), versions: { 1: 5 } }, 'versions: expected an object of state machines by version'],
    [{ journals: memoryJournals(), parkAfterMs: '5' }, 'at least 0; received "5"'],
    [{ journals: memoryJournals(), timeWithoutProces: 'pauses' }, 'received timeWithoutProces'],
    [{ journals: memoryJournals(), timeWithoutProcess: 'pause' }, 'timeWithoutProcess: expected "counts", "pauses"'],
  ])('names an invalid option: %j', (options, message) => {
    expect(() => createDurableMachine(order, options as never)).toThrow(message);
  });

  it('names an invalid option of a method', async () => {
    const durable = inMemory(order);
    const actor = await durable.open('o', { input: { amount: 1 } });
    await expect(actor.send({ type: 'REJECT' }, { key: 'k' } as never)).rejects.toThrow(
      'expected only id; received key',
    );
    await expect(durable.fork('o', undefined as never)).rejects.toThrow('options of fork: expected an object with at');
    await expect(durable.delete('o')).rejects.toThrow('close() it before delete()');
  });

  it('names what is not a machine, and mistyped options', async () => {
    expect(() => inMemory(fromPromise(async () => 1) as never)).toThrow(
      'machine: expected a state machine of XState 5',
    );
    const orders = inMemory(order);
    const mistyped = { mustExsist: true, input: { amount: 1 } };
    await expect(orders.open('o', mistyped)).rejects.toThrow(
      /^options of open: expected only .*; received mustExsist/u,
    );
    expect(() => orders.start('o', { inputs: 1 } as never)).toThrow('received inputs');
    await expect(orders.fork('o', { at: 0, of: 'o' } as never)).rejects.toThrow('received of');
  });

  it('keeps machines in one store apart', async () => {
    const store = journals();
    const door = createDurableMachine(createMachine({ id: 'door', on: { GO: {} } }), { journals: store });
    const actor = await door.open('shared');
    await actor.close();
    const orders = createDurableMachine(order, { journals: store });
    await expect(orders.open('shared')).rejects.toMatchObject(
      anError('invalid_journal', 'expected an actor of the machine "order"; received one of "door"'),
    );
    await expect(orders.fork('shared', { at: 0 })).rejects.toThrow('received one of "door"');
    await expect(orders.delete('shared')).rejects.toThrow('received one of "door"');
    expect([(await orders.list()).length, (await orders.wake()).length, (await door.list()).length]).toEqual([0, 0, 1]);
  });

  it('gives a machine without an input what XState gives it', async () => {
    const machine = createMachine({
      types: {} as { context: { n: number }; input: { n: number } | undefined },
      context: ({ input = { n: 7 } }) => input,
    });
    const durable = inMemory(machine);
    expect((await durable.open('x', { input: undefined })).getSnapshot().context).toEqual({ n: 7 });
  });

  it('does not start an actor whose context depends on its input without one, for example for a misspelled id', async () => {
    const durable = inMemory(createMachine({ context: ({ input }) => ({ given: input }) }));
    await expect(durable.open('o')).rejects.toMatchObject({
      code: 'unknown_journal',
      message:
        'There is no journal "o"; list() returns the existing journals; to start an actor with this id, pass "input"',
    });
    await (await durable.open('o', { input: 4 })).close();
    expect((await durable.open('o')).getSnapshot().context).toEqual({ given: 4 });
    await expect(durable.open('p', { mustExist: true })).rejects.not.toThrow('pass "input"');
  });
});

describe('a fork of an actor that reads its own id', () => {
  it('has the same past', async () => {
    const machine = createMachine({
      context: ({ self }) => ({ me: self.id }),
      initial: 'a',
      states: {
        a: { on: { GO: [{ guard: ({ context }) => context['me'] === 'o', target: 'mine' }, { target: 'other' }] } },
        mine: {},
        other: {},
      },
    });
    const durable = inMemory(machine);
    const actor = await durable.open('o', { input: undefined });
    await actor.send({ type: 'GO' });
    const fork = await durable.fork('o', { at: actor.entries.length - 1 });
    expect(fork.getSnapshot().value).toBe('mine');
  });
});

describe('a fork of an actor with delays', () => {
  it('at a step begins when the step ended, not when a process continued the original later [D4]', async () => {
    const HOUR = 3_600_000;
    const clock = clockAt('2026-01-01T00:00:00Z');
    const machine = createMachine({ initial: 'a', states: { a: { after: { [3 * HOUR]: 'b' } }, b: {} } });
    const durable = createDurableMachine(machine, { journals: journals(), clock });
    await (await durable.open('o')).close();
    clock.increment(2 * HOUR);
    await (await durable.open('o')).close();
    clock.increment(HOUR / 2);
    const fork = await durable.fork('o', { at: 1, id: 'f' });
    expect(fork.entries.map(({ type }) => type)).toEqual(['start', 'timer-start', 'resumed']);
    expect(fork.pending.timers.map(({ dueAtMs }) => dueAtMs)).toEqual([clock.now() + 3 * HOUR]);
    await fork.park();
    const [listed] = (await durable.list()).filter(({ id }) => id === 'f');
    expect(listed).toMatchObject({ startedAt: '2026-01-01T02:30:00.000Z', waiting: { sinceMs: clock.now() } });
    const later = await durable.fork('o', { at: 3, id: 'later' });
    expect(later.pending.timers.map(({ dueAtMs }) => dueAtMs)).toEqual([clock.now() + HOUR]);
  });
});

describe('an effect that lasts', () => {
  it('ends before its actor is closed, and is not executed again [D3]', async () => {
    const ends: (() => void)[] = [];
    const machine = setup({
      actions: { mail: () => new Promise<void>((resolve) => ends.push(resolve)) as never },
    }).createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final', entry: 'mail' } } });
    const store = journals();
    const actor = await createDurableMachine(machine, { journals: store }).open('x');
    await actor.send({ type: 'GO' });
    const closing = actor.close();
    ends[0]?.();
    await closing;
    const durable = createDurableMachine(machine, { journals: store });
    expect((await durable.list())[0]?.status).toBe('done');
    await durable.open('x');
    expect(ends).toHaveLength(1);
  });
});

function failWith(message: string): never {
  throw new Error(message);
}
