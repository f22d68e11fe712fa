import { describe, expect, it } from 'vitest';
import {
  type AnyActorRef,
  type AnyEventObject,
  assign,
  createMachine,
  fromCallback,
  fromPromise,
  sendTo,
  setup,
} from 'xstate';
import { recordOnce } from '../../../src/durable/recorded-values.ts';
import { createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import { settle } from '../../../src/testing/settle.ts';
import { slowJournals, writeJournal } from '../../support/journal-files.ts';
import { TestClock } from '../../support/simulated-clock.ts';

const throwIt = (error: unknown): never => {
  throw error;
};

describe('an actor that ends with a delay left over', () => {
  it('can be opened again', async () => {
    const child = createMachine({ id: 'child', initial: 'a', states: { a: { after: { 30: 'b' } }, b: {} } });
    const machine = setup({ actors: { child } }).createMachine({
      invoke: { src: 'child' },
      on: { FAIL: { actions: assign(() => throwIt(new Error('a bug'))) } },
    });
    const clock = new TestClock();
    const durable = createDurableMachine(machine, { journals: memoryJournals(), clock });
    const actor = await durable.open('x');
    await actor.send({ type: 'FAIL' });
    await actor.close();
    clock.increment(60);
    await expect((await durable.open('x')).output).rejects.toThrow('a bug');
  });
});

describe('closing', () => {
  it('stores what calls and effects have reported, so that they are not repeated [D3]', async () => {
    const [calls, mails]: [string[], string[]] = [[], []];
    const machine = setup({
      actors: { pay: fromPromise(async () => void calls.push('paid')) },
      actions: { mail: () => void mails.push('mailed') },
    }).createMachine({
      on: { ORDER: { actions: 'mail' }, LOOK: {} },
      initial: 'paying',
      states: { paying: { invoke: { src: 'pay', onDone: 'paid' } }, paid: {} },
    });
    const journals = slowJournals();
    const actor = await createDurableMachine(machine, { journals }).open('x');
    await actor.send({ type: 'LOOK' });
    const ordered = actor.send({ type: 'ORDER' });
    const [stored, waiting] = [actor.send({ type: 'LOOK' }), actor.send({ type: 'LOOK' })];
    await ordered;
    await Promise.all([actor.close(), expect(waiting).rejects.toMatchObject({ code: 'cancelled' })]);
    expect(await stored).toBe(true);
    const again = await createDurableMachine(machine, { journals }).open('x');
    await settle();
    expect([calls, mails, again.getSnapshot().value]).toEqual([['paid'], ['mailed'], 'paid']);
  });

  it('stores what an effect sends while closing waits for it [D3]', async () => {
    let finish = (): void => {};
    const mail = async ({ self }: { self: AnyActorRef }) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      self.send({ type: 'MAILED' });
    };
    const machine = setup({ actions: { mail: mail as never } }).createMachine({
      initial: 'mailing',
      states: { mailing: { entry: 'mail', on: { MAILED: 'mailed' } }, mailed: {} },
    });
    const durable = createDurableMachine(machine, { journals: memoryJournals() });
    const closing = (await durable.open('x')).close();
    finish();
    await closing;
    expect((await durable.open('x')).getSnapshot().value).toBe('mailed');
  });

  it('in an observer of the end keeps the output', async () => {
    const machine = createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { type: 'final' } },
      output: 42,
    });
    const durable = createDurableMachine(machine, { journals: memoryJournals() });
    const actor = await durable.open('x');
    actor.ref.subscribe({ complete: () => void actor.close() });
    expect(await actor.send({ type: 'GO' })).toBe(true);
    expect(await actor.output).toBe(42);
    expect((await durable.list())[0]?.status).toBe('done');
  });
});

describe('an event for an actor that has been replaced', () => {
  const child = setup({ types: { events: {} as { type: 'HIT' } } }).createMachine({
    initial: 'idle',
    states: { idle: { on: { HIT: 'hit' } }, hit: {} },
  });
  const parent = setup({ actors: { child } }).createMachine({
    initial: 'a',
    states: { a: { invoke: { id: 'c', src: 'child' }, on: { AGAIN: { target: 'a', reenter: true } } } },
  });

  it.each(['before', 'after'])('does not reach the new one, sent %s the replacement is stored', async (when) => {
    const actor = await createDurableMachine(parent, { journals: slowJournals() }).open('x');
    const old = actor.getSnapshot().children['c'];
    const replaced = actor.send({ type: 'AGAIN' });
    if (when === 'after') await replaced;
    old?.send({ type: 'HIT' });
    await replaced;
    await settle();
    expect(actor.getSnapshot().children['c']?.getSnapshot().value).toBe('idle');
  });

  it('does not end the new one with the error of the old one', async () => {
    let calls = 0;
    const machine = setup({
      actors: {
        restart: fromCallback(({ sendBack }) => {
          if (calls === 0) sendBack({ type: 'AGAIN' });
        }),
        pay: fromPromise(() => {
          calls += 1;
          return calls === 1 ? throwIt(new Error('the first')) : Promise.resolve();
        }),
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: {
          invoke: [{ src: 'restart' }, { id: 'pay', src: 'pay', onDone: 'paid', onError: 'failed' }],
          on: { AGAIN: { target: 'a', reenter: true } },
        },
        paid: {},
        failed: {},
      },
    });
    const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('x');
    await settle();
    expect([actor.getSnapshot().value, calls]).toEqual(['paid', 2]);
  });
});

describe('an actor of another system', () => {
  it('receives an event once, through its own journal, and not from a replay [D3]', async () => {
    const counter = createMachine({
      context: { count: 0 },
      on: { HELLO: { actions: assign({ count: ({ context }) => context['count'] + 1 }) } },
    });
    const counters = createDurableMachine(counter, { journals: memoryJournals() });
    const other = await counters.open('b');
    const machine = setup({ actions: { greet: sendTo(() => other.ref, { type: 'HELLO' }) } }).createMachine({
      on: { GO: { actions: 'greet' } },
    });
    const durable = createDurableMachine(machine, { journals: memoryJournals() });
    const actor = await durable.open('a');
    await actor.send({ type: 'GO' });
    await actor.close();
    await durable.replay('a');
    await durable.open('a');
    await other.close();
    expect((await counters.open('b')).getSnapshot().context).toEqual({ count: 1 });
  });
});

describe('code that observes a step', () => {
  const machine = createMachine({
    context: { drawn: 0 },
    initial: 'a',
    states: {
      a: { on: { GO: { target: 'b', actions: assign({ drawn: () => Math.random() }) } } },
      b: { on: { GO: [{ guard: ({ context }) => context.drawn < 0.5, target: 'low' }, { target: 'high' }] } },
      low: {},
      high: {},
    },
  });
  const observers: readonly [string, () => void][] = [
    ['takes no random number from it', () => void crypto.randomUUID()],
    ['may throw', () => throwIt(new Error('the socket is closed'))],
    ['records nothing in it', () => void recordOnce('rule', () => 7)],
  ];

  it.each(observers)('in an inspector, %s', async (_, observe) => {
    const logger = () => {};
    const durable = createDurableMachine(machine, { journals: memoryJournals(), logger });
    const actor = await durable.open('x');
    actor.ref.system.inspect(observe);
    for (const type of ['GO', 'GO']) expect(await actor.send({ type } as AnyEventObject)).toBe(true);
    const { snapshot, divergence } = await durable.replay('x');
    expect([divergence, snapshot.context]).toEqual([null, actor.getSnapshot().context]);
  });

  it('is logged if it throws when it receives an entry, and the actor continues', async () => {
    const logged: unknown[] = [];
    const logger = (...args: unknown[]) => void logged.push(args.map(String));
    const durable = createDurableMachine(machine, { journals: memoryJournals(), logger });
    const actor = durable.start('x', { onEntry: ({ type }) => type === 'transition' && throwIt(new Error('full')) });
    expect(await actor.send({ type: 'GO' } as AnyEventObject)).toBe(true);
    expect(logged).toEqual([['actor x: "onEntry" threw:', 'Error: full']]);
    expect((await durable.replay('x')).divergence).toBeNull();
  });

  it('takes no random number from it when it receives entries', async () => {
    const durable = createDurableMachine(machine, { journals: memoryJournals() });
    const actor = durable.start('x', { onEntry: () => void crypto.randomUUID() });
    for (const type of ['GO', 'GO']) await actor.send({ type } as AnyEventObject);
    const { snapshot, divergence } = await durable.replay('x');
    expect([divergence, snapshot.context]).toEqual([null, actor.getSnapshot().context]);
  });
});

describe('an event that its codec does not decode', () => {
  class Money {
    readonly amount: number;
    constructor(amount: number) {
      this.amount = amount;
    }
  }
  const money = {
    name: 'Money',
    is: (value: unknown) => value instanceof Money,
    encode: ({ amount }: Money) => amount,
    decode: (amount: unknown) =>
      Number(amount) > 10 ? throwIt(new Error('too much money')) : new Money(Number(amount)),
  };

  it('is rejected and not stored, and the actor takes the next one', async () => {
    const machine = createMachine({
      context: { count: 0 },
      on: { PAY: { actions: assign({ count: ({ context }) => context['count'] + 1 }) } },
    });
    const durable = createDurableMachine(machine, { journals: memoryJournals(), codecs: [money as never] });
    const actor = await durable.open('x');
    await expect(actor.send({ type: 'PAY', money: new Money(20) } as never)).rejects.toThrow('too much money');
    expect(await actor.send({ type: 'PAY', money: new Money(5) } as never)).toBe(true);
    await actor.close();
    expect((await durable.open('x')).getSnapshot().context).toEqual({ count: 1 });
  });
});

describe('an effect', () => {
  it('that throws after the end of its actor is logged', async () => {
    const logged: unknown[] = [];
    const machine = setup({ actions: { pay: () => throwIt(new Error('no money')) } }).createMachine({
      initial: 'a',
      states: { a: { on: { GO: 'b' } }, b: { type: 'final', entry: 'pay' } },
    });
    const logger = (...given: unknown[]) => void logged.push(...given.map(String));
    const actor = await createDurableMachine(machine, { journals: memoryJournals(), logger }).open('x');
    await actor.send({ type: 'GO' });
    expect(logged).toEqual(['x: an effect failed after the end of its actor:', 'Error: no money']);
  });

  it('gives an event for its durable actor the same id if it is repeated, so that it counts once [D3]', async () => {
    let send = (): void => {};
    const machine = setup({ actions: { plus: () => send() } }).createMachine({
      context: { count: 0 },
      on: { GO: { actions: 'plus' }, PLUS: { actions: assign({ count: ({ context }) => context['count'] + 1 }) } },
    });
    const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('x');
    send = () => void actor.send({ type: 'PLUS' });
    await actor.send({ type: 'GO' });
    // As if the process had ended before the end of the effect was stored.
    const killed = memoryJournals();
    const entries = actor.entries.filter(({ type }) => type !== 'effect-end');
    await writeJournal(
      killed,
      'x',
      entries.map((entry, seq) => ({ ...entry, seq })),
    );
    const again = await createDurableMachine(machine, { journals: killed }).open('x', { isPaused: true });
    send = () => void again.send({ type: 'PLUS' });
    again.begin();
    await settle();
    expect(again.getSnapshot().context).toEqual({ count: 1 });
  });
});

describe('a delay of 0 in the first state', () => {
  it('lets the calls of that state start first, as in XState', async () => {
    const calls: string[] = [];
    const machine = setup({ actors: { pay: fromPromise(async () => void calls.push('paid')) } }).createMachine({
      initial: 'a',
      states: { a: { invoke: { src: 'pay' }, after: { 0: 'b' } }, b: {} },
    });
    const clock = new TestClock();
    const actor = await createDurableMachine(machine, { journals: memoryJournals(), clock }).open('x');
    clock.increment(1);
    expect([calls, actor.getSnapshot().value]).toEqual([['paid'], 'b']);
  });
});
