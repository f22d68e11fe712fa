import { describe, expect, it } from 'vitest';
import { assign, createActor, setup } from 'xstate';
import { type BudgetLimits, budget, generate } from '../../../src/entries/agents.ts';
import { SimulatedClock, scriptedModel, settle } from '../../../src/entries/testing.ts';
import { endsOf } from '../../support/agent-charts.ts';

const usage = { inputTokens: 40, outputTokens: 10, estimated: false };
const say = () =>
  generate({
    model: scriptedModel({ say: Array.from({ length: 9 }, () => ({ text: 'Hi.', usage })) }),
    name: 'say',
    prices: { currency: 'EUR', models: { scripted: { inputPerMillion: 1_000, outputPerMillion: 1_000 } } },
  });

/** Calls a model again and again, in a child machine, until the budget is used up. */
function talker(limits: BudgetLimits, stops = false) {
  const child = setup({ actors: { say: say() } }).createMachine({
    id: 'child',
    initial: 'saying',
    states: { saying: { invoke: { src: 'say', input: 'Hello', onDone: 'done' } }, done: { type: 'final' } },
  });
  return setup({
    types: { context: {} as { output: number; error: unknown; reached: unknown } },
    actors: { child, budget },
  }).createMachine({
    id: 'talker',
    version: '1',
    context: { output: 0, error: null, reached: null },
    invoke: { src: 'budget', systemId: 'budget', input: limits },
    initial: 'talking',
    states: {
      talking: {
        invoke: {
          src: 'child',
          onDone: {
            target: 'talking',
            reenter: true,
            actions: assign({ output: ({ context }) => context.output + 1 }),
          },
          onError: { target: 'failed', actions: assign({ error: ({ event }) => event.error }) },
        },
      },
      failed: { type: 'final' },
      stopped: { type: 'final' },
    },
    on: {
      'budget.reached': stops
        ? { target: '.stopped', actions: assign({ reached: ({ event }) => event }) }
        : { actions: assign({ reached: ({ event }) => event }) },
    },
  });
}

describe('a budget', () => {
  it.each([
    ['calls', { calls: 3 }, 3, 'at most 3 model calls'],
    ['tokens', { tokens: 120 }, 3, 'at most 120 tokens'],
    ['cost', { cost: 0.1 }, 2, 'at most a cost of 0.1'],
  ])('of %s holds for the calls of a whole actor system [G3]', async (_, limits, calls, text) => {
    const end = await endsOf(() => talker(limits) as never);
    expect(end).toMatchObject({ value: 'failed', output: calls, code: 'budget_exhausted' });
    expect(end.message).toContain(text);
  });

  it('tells the chart which limit was reached, so that it can end without an error', async () => {
    const actor = createActor(talker({ calls: 2 }, true)).start();
    await settle();
    const { value, context } = actor.getSnapshot();
    expect([value, context.output]).toEqual(['stopped', 2]);
    expect(context.reached).toMatchObject({ limit: 'calls', usage: { modelCalls: 2 } });
  });

  it('of time ends with a timer', async () => {
    const clock = new SimulatedClock();
    const model = scriptedModel({ say: [{ hang: true }] });
    const waiting = setup({
      actors: { say: generate({ model, name: 'say', clock: clock as never }), budget },
    }).createMachine({
      invoke: { src: 'budget', systemId: 'budget', input: { ms: 5_000 } },
      initial: 'saying',
      states: { saying: { invoke: { src: 'say', input: 'Hello', onDone: 'over' } }, over: {}, late: {} },
      on: { 'budget.reached': '.late' },
    });
    const actor = createActor(waiting, { clock }).start();
    await settle();
    clock.increment(4_999);
    expect(actor.getSnapshot().value).toBe('saying');
    clock.increment(1);
    expect(actor.getSnapshot().value).toBe('late');
  });

  it('counts a call that the chart aborts, as an estimate', async () => {
    const model = scriptedModel({ say: [{ hang: true, text: '{"text":"Hello' }] });
    const machine = setup({ actors: { say: generate({ model, name: 'say' }), budget } }).createMachine({
      invoke: { src: 'budget', id: 'budget', systemId: 'budget', input: { calls: 9 } },
      initial: 'saying',
      states: { saying: { invoke: { src: 'say', input: 'Hello', onDone: 'over' }, on: { LEAVE: 'over' } }, over: {} },
    });
    const actor = createActor(machine).start();
    await settle();
    actor.send({ type: 'LEAVE' });
    const used = Object.values(
      (actor.getSnapshot().children['budget'] as never as ReturnType<typeof createActor<typeof budget>>).getSnapshot()
        .context.used,
    );
    expect(used).toMatchObject([{ modelCalls: 1, estimated: true }]);
  });

  it.each([
    ['for limits that are none', { systemId: 'budget', input: { tokens: -1 } }, 'tokens'],
    ['if model calls cannot find it', { input: { tokens: 9 } }, 'systemId'],
  ])('fails %s', async (_, invoke, text) => {
    const machine = setup({
      types: { context: {} as { error: unknown; output: null } },
      actors: { budget },
    }).createMachine({
      id: 'm',
      version: '1',
      context: { error: null, output: null },
      initial: 'on',
      states: {
        on: {
          invoke: {
            src: 'budget',
            ...invoke,
            onError: { target: 'off', actions: assign({ error: ({ event }) => event.error }) },
          },
        },
        off: { type: 'final' },
      },
    });
    const end = await endsOf(() => machine as never);
    expect(end).toMatchObject({ value: 'off', code: 'invalid_option' });
    expect(end.message).toContain(text);
  });
});
