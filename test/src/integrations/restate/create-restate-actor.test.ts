import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, assign, createMachine, fromCallback, fromPromise, raise, sendTo, setup } from 'xstate';
import {
  addNote,
  approval,
  createDurableMachine,
  type DurableEntry,
  durable,
  fromDurable,
  idempotencyKey,
  memoryJournals,
  recordOnce,
  wasInterrupted,
} from '../../../../src/entries/durable.ts';
import { createRestateActor, createRestateChain, type RestateActorStatus } from '../../../../src/entries/restate.ts';
import { scenarios } from '../../../support/durable-machines.ts';
import { repeatedAfterEnd } from '../../../support/durable-runs.ts';
import { divergenceOf, playActor } from '../../../support/restate-actors.ts';

/** Only the process of an actor can send an event to a child from outside. */
const played = Object.entries(scenarios).filter(
  ([, { steps }]) => !steps.some((step) => typeof step === 'object' && 'child' in step),
);

describe.each(played)('%s', (_, { machine: build, input, steps, ends }) => {
  const play = async (kills: readonly number[]) => {
    const calls: string[] = [];
    const machine = build({ called: (name, args) => void calls.push(`${name} ${idempotencyKey(args)}`) });
    return { calls, machine, ...(await playActor({ machine, input, steps, kills })) };
  };

  it('has one journal, killed at each outcome, and repeats nothing that ended', async () => {
    const whole = await play([]);
    const [journal = []] = whole.journals;
    expect(whole.status.value).toEqual(ends);
    expect(divergenceOf(whole.machine, journal)).toBeNull();
    const each = Array.from({ length: whole.outcomes }, (__, kill) => kill);
    for (const kills of [...each.map((kill) => [kill]), each]) {
      const killed = await play(kills);
      expect(killed.journals.at(-1), `killed at ${kills}`).toEqual(journal);
      expect(killed.requests, `killed at ${kills}`).toEqual(whole.requests);
      for (const stored of killed.journals.slice(0, -1))
        expect(stored, `killed at ${kills}`).toEqual(journal.slice(0, stored.length));
      if (kills.length === 1) expect(repeatedAfterEnd(killed.calls, killed.journals[0] ?? [])).toEqual([]);
      expect(new Set(killed.calls), `killed at ${kills}`).toEqual(new Set(whole.calls));
    }
  });
});

const typesOf = (entries: readonly DurableEntry[] = []): readonly string[] => entries.map(({ type }) => type);
const byType = (entries: readonly DurableEntry[] = [], type: DurableEntry['type']) =>
  entries.filter((entry) => entry.type === type);

/** Asks, waits, and then calls the effect and the promise. */
function payment(called: (name: string, args: { readonly self: object }) => void) {
  return setup({
    types: { context: {} as { amount: number } },
    actors: {
      approval,
      pay: fromPromise<string, number>(async ({ input, self }) => {
        called(`pay ${input}`, { self });
        addNote({ self }, { pays: input });
        return 'paid';
      }),
    },
    actions: { mail: (args) => called('mail', args) },
  }).createMachine({
    id: 'payment',
    context: { amount: 40 },
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          src: 'approval',
          input: ({ context }) => ({ question: context.amount }),
          onDone: [
            {
              guard: ({ event }) => event.output.decision === 'approve',
              target: 'resting',
              actions: assign({ amount: ({ event }) => event.output.question as number }),
            },
            { target: 'denied' },
          ],
        },
      },
      resting: { after: { 60000: 'paying' } },
      paying: { entry: 'mail', invoke: { src: 'pay', input: ({ context }) => context.amount, onDone: 'paid' } },
      paid: { type: 'final', entry: 'mail' },
      denied: { type: 'final' },
    },
    output: ({ context }) => context.amount,
  });
}

const answer = (change: object) => (status: RestateActorStatus) => {
  const { id, digest } = status.pending.approvals[0] ?? {};
  return { type: 'approval.given', id, digest, decision: 'approve', ...change };
};

describe('an approval on Restate', () => {
  it('is answered once, by its id and digest, and what it allows happens once, whatever is killed', async () => {
    const steps = [answer({ digest: 'stale' }), answer({ id: 'other' }), answer({ edited: 30 }), answer({}), 60_000];
    const play = async (kills: readonly number[]) => {
      const calls: string[] = [];
      const machine = payment((name, args) => void calls.push(`${name} ${idempotencyKey(args)}`));
      return { calls, machine, ...(await playActor({ machine, steps, kills })) };
    };
    const whole = await play([]);
    const [journal = []] = whole.journals;
    expect(whole.output).toBe(30);
    expect(whole.calls.map((call) => call.replace(/a:[0-9a-f]{16}:/u, ''))).toEqual([
      'mail effect:0',
      'pay 30 activity:0',
      'mail effect:1',
    ]);
    expect(byType(journal, 'delivery')).toMatchObject([{ event: { edited: 30 } }]);
    expect(byType(journal, 'note')).toMatchObject([{ note: { pays: 30 }, activity: 0 }]);
    expect(journal.at(-1)).toMatchObject({ type: 'effect-end', status: 'done' });
    expect(divergenceOf(whole.machine, journal)).toBeNull();
    for (let kill = 0; kill < whole.outcomes; kill += 1) {
      const killed = await play([kill]);
      expect(killed.journals.at(-1), `killed at ${kill}`).toEqual(journal);
      expect(repeatedAfterEnd(killed.calls, killed.journals[0] ?? []), `killed at ${kill}`).toEqual([]);
      expect(new Set(killed.calls), `killed at ${kill}`).toEqual(new Set(whole.calls));
    }
  });

  it('is in the status, with what else the actor waits for', async () => {
    const asking = await playActor({ machine: payment(() => {}), steps: [] });
    expect(asking.status).toMatchObject({
      machine: { id: 'payment', version: null },
      status: 'running',
      value: 'asking',
      pending: { activities: [], effects: [], timers: [], approvals: [{ question: 40 }] },
      output: null,
      entries: asking.journals[0]?.length,
    });
    const resting = await playActor({ machine: payment(() => {}), steps: [answer({})] });
    const [timer] = resting.status.pending.timers;
    expect(timer).toMatchObject({ event: 'xstate.after.60000.payment.resting' });
    expect(timer?.dueAtMs).toBe(Date.parse('2026-01-01T00:01:00Z'));
  });
});

describe('a call on Restate', () => {
  it('knows whether an earlier process has started it', async () => {
    const answers: boolean[] = [];
    const machine = createMachine({
      invoke: {
        src: fromPromise(async ({ self }) => {
          answers.push(wasInterrupted({ self }));
          return new Promise(() => {});
        }),
      },
    });
    await playActor({ machine, steps: [], kills: [0, 0] });
    expect(answers).toEqual([false, true, true]);
  });

  const ticks = async (count: number, inside = (): void => {}): Promise<void> => {
    for (let tick = 0; tick < count; tick += 1) await (tick === 1 ? inside() : null);
  };

  it('does not lose an event that an action sends while another call ends', async () => {
    const machine = createMachine({
      entry: [() => {}, ({ self }) => ticks(2, () => self.send({ type: 'LOADED' }))],
      initial: 'a',
      states: { a: { on: { LOADED: 'b' } }, b: { type: 'final' } },
    });
    const { status, outcomes } = await playActor({ machine, steps: [] });
    expect(status).toMatchObject({ status: 'done', value: 'b' });
    for (let kill = 0; kill < outcomes; kill += 1)
      expect((await playActor({ machine, steps: [], kills: [kill] })).status.value, `killed at ${kill}`).toBe('b');
  });

  it('does not lose events that a promise sends, whichever call reports them, even one that its machine abandons', async () => {
    const sends = (before: number) =>
      fromPromise(async ({ self }) => {
        await ticks(before);
        for (let sent = 0; sent < 5; sent += 1) {
          await null;
          (self as unknown as { _parent: { send: (event: object) => void } })._parent.send({ type: 'PROGRESS' });
        }
        await ticks(30);
      });
    const idle = fromCallback(() => {});
    for (const before of [0, 1, 2, 3, 4, 5, 6])
      for (const quick of [0, 1, 2, 3, 4, 5, 6]) {
        const calling = { invoke: [{ src: idle }, { src: fromPromise(() => ticks(quick)), onDone: 'left' }] };
        const machine = createMachine({
          context: { count: 0 },
          on: { PROGRESS: { actions: assign({ count: ({ context }) => context['count'] + 1 }) }, END: '.end' },
          initial: 'both',
          states: {
            both: {
              type: 'parallel',
              states: {
                one: { initial: 'a', states: { a: calling, left: {} } },
                other: { invoke: { src: sends(before) } },
              },
            },
            end: { type: 'final' },
          },
          output: ({ context }) => context['count'],
        });
        const { output } = await playActor({ machine, steps: [{ type: 'END' }] });
        expect(output, `${before} and ${quick}`).toBe(5);
      }
  });

  it('reports an event that code sends after its step has ended as lost', async () => {
    const printed: unknown[] = [];
    let send = (): void => {};
    const machine = createMachine({
      entry: ({ self }) => {
        send = () => self.send({ type: 'LATE' });
      },
    });
    const go = (): object => {
      send();
      return { type: 'GO' };
    };
    await playActor({ machine, steps: [go], log: (...args) => void printed.push(...args) });
    expect(printed).toEqual([expect.stringMatching(/"LATE".*lost/u)]);
  });
});

describe('an effect on Restate', () => {
  it('sends its first events once, although it is repeated', async () => {
    let process = 0;
    const machine = createMachine({
      context: { sent: 0 },
      entry: async ({ self }) => {
        process += 1;
        self.send({ type: 'SENT' });
        if (process === 1) await new Promise(() => {});
      },
      on: { SENT: { actions: assign({ sent: ({ context }) => context['sent'] + 1 }) }, GO: '.over' },
      initial: 'on',
      states: { on: {}, over: { type: 'final' } },
      output: ({ context }) => context['sent'],
    });
    const { output, journals } = await playActor({ machine, steps: [{ type: 'GO' }], kills: [1] });
    expect([process, output]).toEqual([2, 1]);
    expect(typesOf(journals.at(-1)).filter((type) => type === 'effect-end')).toHaveLength(1);
  });

  it('that throws ends its actor with the error, which is terminal and has its code', async () => {
    const machine = createMachine({
      entry: () => {
        throw Object.assign(new Error('no mail'), { code: 'E_MAIL' });
      },
    });
    const { error, status } = await playActor({ machine, steps: [] });
    expect(error).toMatchObject({ name: 'TerminalError', message: 'E_MAIL: no mail' });
    expect(status).toMatchObject({ status: 'error', error: { value: { message: 'no mail' } } });
  });

  it('that sends a message, or starts a child process, ends its actor with an error that explains it', async () => {
    const child = createDurableMachine(createMachine({ id: 'child' }), { journals: memoryJournals() });
    const machines = [
      createMachine({ entry: sendTo(durable('b'), { type: 'GO' }) }),
      createMachine({ invoke: { src: fromDurable(child) } }),
    ];
    for (const machine of machines)
      expect((await playActor({ machine, steps: [] })).error).toMatchObject({
        message: expect.stringContaining('requires createDurableMachine'),
      });
  });
});

describe('an event that cannot be stored', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));
  const ctx = { key: 'k', request: () => ({ id: 'r' }) };
  type Send = { readonly workflow: { readonly send: (context: object, sent: object) => Promise<unknown> } };

  it.each([600, 49_000])('%i levels deep gets 400, from a machine and a chain', async (levels) => {
    const rejected = { code: 400, message: expect.stringMatching(/^not_durable: event for k\..*500 levels/u) };
    const actor = createRestateActor(createMachine({ id: 'm' })) as unknown as Send;
    const event = { type: 'X', deep: nested(levels) };
    await expect(actor.workflow.send(ctx, { event })).rejects.toMatchObject(rejected);
    const chain = createRestateChain() as unknown as Send;
    const answer = { type: 'approval.given', questionId: 'q', digest: 'd', decision: 'approve' };
    const edited = { ...answer, arguments: { deep: nested(levels) } };
    await expect(chain.workflow.send(ctx, { event: edited })).rejects.toMatchObject(rejected);
  });

  it('does not block a run', async () => {
    const printed: unknown[] = [];
    const machine = createMachine({ initial: 'a', states: { a: { on: { GO: 'b' } }, b: { type: 'final' } } });
    const steps = [{ type: 'X', deep: nested(600) }, { type: 'GO' }];
    const log = (...args: unknown[]) => void printed.push(...args);
    const { status } = await playActor({ machine, steps, kills: [1], log });
    expect(status).toMatchObject({ status: 'done', value: 'b' });
    expect(printed).toContainEqual(expect.stringMatching(/^a ignores an event .*event for a\.deep/u));
  });
});

describe('a delay on Restate', () => {
  const reminded = createMachine({
    entry: raise({ type: 'REMIND' }, { delay: 10_000 }),
    initial: 'a',
    states: { a: { after: { 20000: 'expired' }, on: { GO: 'paid' } }, expired: {}, paid: {} },
  });

  it('that is due before an event comes first', async () => {
    const { status, journals } = await playActor({ machine: reminded, steps: [30_000, { type: 'GO' }] });
    expect(status.value).toBe('expired');
    expect(divergenceOf(reminded, journals[0] ?? [])).toBeNull();
  });

  it.each([
    [[25_000, { type: 'GO' }, 35_000], 'expired'],
    [[15_000, { type: 'GO' }, 45_000], 'paid'],
  ])('and an event that came without a process keep their order: %j', async (meanwhile, value) => {
    const { status, journals } = await playActor({ machine: reminded, steps: [], kills: [0], meanwhile });
    expect(status.value).toBe(value);
    const atMs = byType(journals.at(-1), 'timer').map((entry) => entry.atMs);
    expect(atMs).toEqual(value === 'paid' ? [60_000] : [60_000, 60_000]);
  });
});

describe('recordOnce on Restate', () => {
  it('returns the same in each process, whatever its work returns there', async () => {
    let count = 0;
    const numbers = (name: string): unknown[] => [
      recordOnce(`${name} 1`, () => ++count),
      recordOnce(`${name} 2`, () => ++count),
    ];
    const see = (name: string) =>
      assign({ seen: ({ context }: { context: { seen: unknown[] } }) => [...context.seen, ...numbers(name)] });
    const build = () =>
      createMachine({
        context: () => ({ seen: numbers('first') }),
        invoke: { src: fromPromise(async () => 1), onDone: '.called' },
        initial: 'calling',
        states: {
          calling: {},
          called: {
            entry: [see('later'), ({ self }) => self.send({ type: 'SENT' })],
            on: { SENT: { actions: see('sent') }, GO: 'end' },
          },
          end: { type: 'final' },
        },
        output: ({ context }) => context['seen'],
      });
    const play = (kills: readonly number[]) => {
      count = 0;
      return playActor({ machine: build(), steps: [{ type: 'GO' }], kills });
    };
    const whole = await play([]);
    expect(whole.output).toEqual([1, 2, 3, 4, 5, 6]);
    expect(divergenceOf(build(), whole.journals[0] ?? [])).toBeNull();
    for (let kill = 0; kill < whole.outcomes; kill += 1) {
      const killed = await play([kill]);
      expect(killed.requests, `killed at ${kill}`).toEqual(whole.requests);
      for (const journal of killed.journals)
        expect(byType(killed.journals.at(-1), 'value').slice(0, byType(journal, 'value').length)).toEqual(
          byType(journal, 'value'),
        );
      const recorded = byType(killed.journals.at(-1), 'value').map((entry) => (entry as { value: unknown }).value);
      expect(killed.output, `killed at ${kill}`).toEqual(recorded);
      expect(divergenceOf(build(), killed.journals.at(-1) ?? []), `killed at ${kill}`).toBeNull();
    }
  });
});

describe('values that JSON lacks', () => {
  it('are text in the input, and have the form of the journal in the output', async () => {
    const machine = createMachine({
      context: ({ input }) => ({ input }),
      initial: 'end',
      states: { end: { type: 'final' } },
      output: ({ context }) => ({ ...context, set: new Set([1]) }),
    });
    const input = JSON.parse(JSON.stringify({ at: new Date(0) }));
    const { output } = await playActor({ machine, input, steps: [] });
    expect(output).toEqual({ input: { at: '1970-01-01T00:00:00.000Z' }, set: { $type: 'Set', value: [1] } });
  });
});

describe('an actor on Restate that is canceled', () => {
  it('receives nothing, stops its calls, and ends with a terminal error', async () => {
    let isAborted = false;
    const machine = createMachine({
      invoke: {
        src: fromCallback(() => () => {
          isAborted = true;
        }),
      },
    });
    const { error, journals, status } = await playActor({ machine, steps: [], isCancelled: true });
    expect(error).toMatchObject({ name: 'TerminalError', code: 409, message: expect.stringMatching(/^cancelled: /u) });
    expect(typesOf(journals[0]).slice(-2)).toEqual(['stopped', 'end']);
    expect([isAborted, status.status]).toEqual([true, 'stopped']);
  });
});

describe('another version of the machine', () => {
  const version = (name: string, target: string) =>
    createMachine({
      id: 'm',
      version: name,
      initial: 'a',
      states: { a: { on: { GO: target } }, b: { type: 'final' }, c: { type: 'final' } },
      output: name,
    });
  const [first, second] = [version('1', 'b'), version('2', 'c')];
  const plan = { machine: first, steps: [{ type: 'GO' }], kills: [0], deployed: [first, second] };

  it('does not continue an actor, and names both', async () => {
    const { error } = await playActor(plan);
    expect(error).toMatchObject({ code: 'invalid_journal', message: expect.stringMatching(/ m 1 .* m 2 /u) });
  });

  it('has the earlier one in "versions"', async () => {
    expect(await playActor({ ...plan, versions: { 1: first } })).toMatchObject({ output: '1' });
  });
});

describe('createRestateActor', () => {
  const machine = createMachine({ id: 'order' });

  it('returns a workflow with the name of the machine, or the given one', () => {
    const order = createRestateActor(machine) as unknown as { name: string; workflow: object };
    expect(order.name).toBe('order');
    expect(Object.keys(order.workflow)).toEqual(['run', 'send', 'status', 'journal']);
    expect(createRestateActor(machine, { name: 'orders' }).name).toBe('orders');
  });

  it.each(['journals', 'timeWithoutProcess', 'parkAfterMs', 'describeWait', 'clock', 'logger'])(
    'rejects the option %s, with the reason',
    (option) => {
      expect(() => createRestateActor(machine, { [option]: 'any' })).toThrow(
        expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(option) }),
      );
    },
  );

  it.each([
    [{}, 'invalid_option'],
    [createMachine({}), 'invalid_option'],
    [createMachine({ id: 'order', invoke: { src: 'missing' } }), 'not_durable'],
  ])('rejects %o', (given, code) => {
    expect(() => createRestateActor(given as AnyStateMachine)).toThrow(expect.objectContaining({ code }));
  });
});
