import { expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { type ApprovalDecision, approval, budget, generate } from '../../../src/entries/agents.ts';
import { memoryJournals as actorJournals, createDurableMachine } from '../../../src/entries/durable.ts';
import { createAttempt } from '../../../src/entries/structured-output.ts';
import { type EvaluateOptions, type EvaluationCase, evaluate, evaluationText } from '../../../src/entries/testing.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { replies } from '../../../src/testing/replies.ts';
import { capabilityNamed } from '../../support/run-chain.ts';

interface Case extends EvaluationCase {
  readonly expected: string;
}

const cases: readonly Case[] = [
  { name: 'first', request: 'Is it so?', expected: 'yes' },
  { name: 'second', request: 'Is it otherwise?', expected: 'no' },
];
const scorers: EvaluateOptions<Case>['scorers'] = {
  correct: ({ answerText }, { expected }) => answerText.includes(expected),
  short: ({ answerText }) => 1 / answerText.length,
};

/** A model that always gives one answer. */
function answering(answer: string) {
  const synthesis = { ...replies.synthesis, answerText: answer };
  const model = scriptedModel({}, { otherwise: { ...replies, yield: { ...replies.yield, answer }, synthesis } });
  return { model, options: { model, profile: 'thorough' as const } };
}

it('scores every answer of every chain, and adds up what they took', async () => {
  const [yes, no] = [answering('yes'), answering('no')];
  const { cases: results, systems } = await evaluate(cases, {
    systems: { optimist: yes.options, pessimist: no.options },
    scorers,
  });
  expect(results.map(({ name, system, scores }) => [name, system, scores['correct']])).toEqual([
    ['first', 'optimist', 1],
    ['first', 'pessimist', 0],
    ['second', 'optimist', 0],
    ['second', 'pessimist', 1],
  ]);
  expect(systems['optimist']).toMatchObject({ scores: { correct: 0.5, short: 1 / 3 }, completed: 1, cost: null });
  expect(systems['optimist']?.modelCalls).toBe(yes.model.calls.length);
});

it('scores stored answers again without a call, until it is told to ask again', async () => {
  const journals = memoryJournals();
  const systems = { one: answering('yes').options };
  const first = await evaluate(cases, { systems, scorers, journals });
  const silent = answering('no');
  const again = { systems: { one: silent.options }, scorers, journals };
  const second = await evaluate(cases, again);
  expect(second.cases.map(({ isStored, output }) => [isStored, output])).toEqual(
    first.cases.map(({ output }) => [true, output]),
  );
  expect(silent.model.calls).toEqual([]);
  const third = await evaluate(cases, { ...again, rerun: true });
  expect(third.cases.map(({ isStored, scores }) => [isStored, scores['correct']])).toEqual([
    [false, 0],
    [false, 1],
  ]);
  const changed = cases.map((one) => ({ ...one, request: `${one.request} Really?` }));
  expect((await evaluate(changed, again)).cases.map(({ isStored }) => isStored)).toEqual([false, false]);
});

it('ends although a call needs approval, which nobody gives', async () => {
  const ran: string[] = [];
  const pay = capabilityNamed('pay', () => void ran.push('paid'), { approval: 'always' });
  const wanting = { ...replies, action: { ...replies.action, calls: [{ capability: 'pay', arguments: '{}' }] } };
  const model = scriptedModel({}, { otherwise: wanting });
  const { cases: results } = await evaluate(cases, { systems: { one: { model, capabilities: [pay] } }, scorers });
  expect(results.map(({ status }) => status)).toEqual(['degraded', 'degraded']);
  expect(ran).toEqual([]);
});

it('is printed as a table, with the cases that are not right', async () => {
  const evaluation = await evaluate(cases, { systems: { one: answering('yes').options }, scorers });
  const [head, , row, , ...wrong] = evaluationText(evaluation).split('\n');
  expect(head).toBe('| system | correct | short | completed | model calls | tokens in | tokens out | cost |');
  expect(row).toMatch(/^\| one \| 50 % \| 33 % \| 100 % \| 14 \| \d+ \| \d+ \| – \|$/u);
  expect(wrong[1]).toMatch(
    /^- second \(one\): correct 0 %, short 33 %; completed; output "yes"; expected "no"; evaluation-[\da-f]{32}$/u,
  );
});

it.each([
  ['names that repeat', [cases[0], cases[0]], scorers, 'cases: expected cases with unique names; received 2.'],
  ['no scorers', cases, undefined, 'scorers: expected an object with scorers by name; received undefined.'],
  ['no case', [], scorers, 'cases: expected cases with unique names; received 0.'],
  [
    'the name of a column',
    cases,
    { completed: () => 1 },
    'scorers.completed: expected a name other than system, completed, ',
  ],
  [
    'a score above 1',
    cases,
    { size: () => 7 },
    'scorers.size: for the case "first": expected a number from 0 to 1, true or false; received 7.',
  ],
])('rejects %s', async (_, given, scored, message) => {
  const evaluation = evaluate(given as readonly Case[], {
    systems: { one: answering('yes').options },
    scorers: scored as never,
  });
  await expect(evaluation).rejects.toThrow(message);
});

const Total = z.object({ total: z.number() });

/** A machine that asks a model for a total, and then rounds it after a delay. */
function adder(replies: readonly number[]) {
  const model = scriptedModel({ total: replies.map((total) => ({ reply: { total } })) });
  const attempt = createAttempt({ model, schema: Total, name: 'total' });
  const machine = setup({
    types: { input: {} as { text: string }, context: {} as { text: string; total: number }, output: {} as number },
    actors: { add: attempt.machine, fail: fromPromise(() => Promise.reject(new Error('no'))) },
  }).createMachine({
    id: 'adder',
    context: ({ input }) => ({ ...input, total: 0 }),
    initial: 'adding',
    states: {
      adding: {
        invoke: {
          src: 'add',
          input: ({ context }) => attempt.input(context.text),
          onDone: {
            target: 'resting',
            actions: assign({ total: ({ event }) => (event.output.ok ? event.output.value.total : 0) }),
          },
        },
      },
      resting: {
        after: { 5: [{ guard: ({ context }) => context.total < 0, target: 'failing' }, { target: 'added' }] },
      },
      failing: { invoke: { src: 'fail' } },
      added: { type: 'final' },
    },
    output: ({ context }) => context.total,
  });
  return { model, machine };
}

const sums = [
  { name: 'small', input: { text: '1 + 1' }, expected: 2 },
  { name: 'large', input: { text: '20 + 30' }, expected: 50 },
];

it('compares machines by output and last snapshot, with their model calls, and reuses the results of a durable one', async () => {
  const [good, bad] = [adder([2, 50]), adder([2, -1])];
  const durable = createDurableMachine(good.machine, { journals: actorJournals() });
  const options = {
    systems: { durable, plain: bad.machine },
    scorers: {
      correct: (total: number, { expected }: (typeof sums)[0]) => total === expected,
      added: (_: number, __: (typeof sums)[0], snapshot: { readonly value: unknown } | null) =>
        snapshot?.value === 'added',
    },
  };
  const { cases: results, systems } = await evaluate(sums, options);
  expect(results.map(({ name, system, status, output, scores }) => [name, system, status, output, scores])).toEqual([
    ['small', 'durable', 'done', 2, { correct: 1, added: 1 }],
    ['small', 'plain', 'done', 2, { correct: 1, added: 1 }],
    ['large', 'durable', 'done', 50, { correct: 1, added: 1 }],
    ['large', 'plain', 'error', undefined, { correct: 0, added: 0 }],
  ]);
  expect(systems['plain']).toMatchObject({ completed: 0.5, modelCalls: 2, outputTokens: 6, cost: null });
  expect(evaluationText({ cases: results, systems })).toMatch(
    /^- large \(plain\): correct 0 %, added 0 %; error: \S.*; evaluation-/mu,
  );
  const again = await evaluate(sums, { ...options, systems: { durable } });
  expect(again.cases.map(({ isStored, output }) => [isStored, output])).toEqual([
    [true, 2],
    [true, 50],
  ]);
  expect(good.model.calls).toHaveLength(2);
  const rerun = await evaluate(sums.slice(0, 1), { ...options, systems: { durable }, rerun: true }).catch(String);
  expect([good.model.calls.length > 2, typeof rerun]).toEqual([true, 'object']);
});

it('counts the calls, tokens and cost of agents, including calls that the chart aborts, but not those that the budget refuses', async () => {
  const usage = { inputTokens: 100, outputTokens: 10, estimated: false };
  const model = scriptedModel({ ask: [{ text: 'yes' }], wait: [{ hang: true }] }, { usage });
  const prices = { currency: 'EUR', models: { scripted: { inputPerMillion: 2_000, outputPerMillion: 10_000 } } };
  const actors = {
    budget,
    ask: generate({ model, prices, name: 'ask' }),
    wait: generate({ model, prices, name: 'wait' }),
  };
  const machine = setup({ actors }).createMachine({
    id: 'asker',
    invoke: { src: 'budget', systemId: 'budget', input: { calls: 2 } },
    initial: 'asking',
    states: {
      asking: { invoke: { src: 'ask', input: 'Well?', onDone: 'waiting' } },
      waiting: { invoke: { src: 'wait', input: 'Well?' }, after: { 5: 'again' } },
      again: { invoke: { src: 'ask', input: 'And now?', onError: 'ended' } },
      ended: { type: 'final' },
    },
  });
  const { systems } = await evaluate([{ name: 'one' }], { systems: { machine }, scorers: {} });
  expect(systems['machine']).toMatchObject({ modelCalls: 2, inputTokens: 100, outputTokens: 10 });
  expect(systems['machine']?.cost).toBeCloseTo(0.3);
});

it('runs at most four actors of a machine at a time', async () => {
  const ends: (() => void)[] = [];
  const work = fromPromise(() => new Promise<void>((resolve) => ends.push(resolve)));
  const states = { working: { invoke: { src: work, onDone: 'ended' } }, ended: { type: 'final' as const } };
  const machine = createMachine({ id: 'worker', initial: 'working', states });
  const evaluated = evaluate(
    Array.from({ length: 6 }, (_, at) => ({ name: `${at}` })),
    { systems: { machine }, scorers: { ended: () => true } },
  );
  await expect.poll(() => ends.length).toBe(4);
  ends[0]?.();
  await expect.poll(() => ends.length).toBe(5);
  ends[1]?.();
  await expect.poll(() => ends.length).toBe(6);
  for (const end of ends) end();
  expect((await evaluated).systems['machine']).toMatchObject({ completed: 1 });
});

it('answers the approvals of a machine, also while a delay runs', async () => {
  const keep = { type: 'keep', params: ({ event }: { event: { output: ApprovalDecision } }) => event.output } as const;
  const asking = (question: string) => ({ src: 'approval', input: { question } }) as const;
  const machine = setup({
    types: {} as { context: { answers: ApprovalDecision[] }; output: ApprovalDecision[] },
    actors: { approval },
    actions: { keep: assign(({ context }, answer: ApprovalDecision) => ({ answers: [...context.answers, answer] })) },
  }).createMachine({
    id: 'desk',
    context: { answers: [] },
    output: ({ context }) => context.answers,
    initial: 'first',
    states: {
      first: {
        invoke: { ...asking('Pay?'), onDone: { target: 'second', actions: keep } },
        after: { 86400000: 'late' },
      },
      second: { invoke: { ...asking('Send?'), onDone: { target: 'ended', actions: keep } } },
      late: {},
      ended: { type: 'final' },
    },
  });
  const system = { systems: { desk: machine }, scorers: {} };
  const { cases: results } = await evaluate([{ name: 'one' }], {
    ...system,
    approve: ({ question }, { name }) =>
      question === 'Pay?' ? { decision: 'approve', edited: 'Pay half?' } : { decision: 'deny', reason: name },
  });
  expect(results[0]?.output).toMatchObject([
    { decision: 'approve', question: 'Pay half?', isEdited: true },
    { decision: 'deny', question: 'Send?', reason: 'one' },
  ]);
  const wrong = evaluate([{ name: 'one' }], { ...system, approve: () => 'approve' as never });
  await expect(wrong).rejects.toThrow('approve: expected { decision: "approve" or "deny", edited?, reason? }');
});

it('rejects a machine that asks the same question again after each denial', async () => {
  const machine = setup({ actors: { approval } }).createMachine({
    id: 'desk',
    initial: 'asking',
    states: {
      asking: { invoke: { src: 'approval', input: { question: 'Pay?' }, onDone: 'again' } },
      again: { always: 'asking' },
    },
  });
  const approve = () => ({ decision: 'deny' }) as const;
  const endless = evaluate([{ name: 'one' }], { systems: { machine }, scorers: {}, approve });
  await expect(endless).rejects.toThrow('for "one", desk asks the same question more than 100 times: "Pay?"');
});

it('names the missing option if a machine waits for an approval, and accepts a promise actor in its place', async () => {
  const machine = setup({ actors: { approval } }).createMachine({
    id: 'desk',
    initial: 'asking',
    states: {
      asking: { invoke: { src: 'approval', input: { question: 'Pay?' }, onDone: 'ended' } },
      ended: { type: 'final' },
    },
  });
  const waiting = evaluate([{ name: 'one' }], { systems: { machine }, scorers: {} });
  await expect(waiting).rejects.toThrow('desk waits in "asking"; expected the option "approve"');
  const approves = fromPromise<ApprovalDecision, { question: ApprovalDecision['question'] }>(
    async ({ input: { question } }) => ({ decision: 'approve', question, isEdited: false, reason: null, by: null }),
  );
  const systems = { provided: machine.provide({ actors: { approval: approves } }) };
  const { cases: results } = await evaluate([{ name: 'one' }], { systems, scorers: {} });
  expect(results[0]?.status).toBe('done');
});

it('rejects a machine that waits for an event, and compares machines with chains', async () => {
  const machine = createMachine({ id: 'idle', initial: 'waiting', states: { waiting: { on: { go: {} } } } });
  const waiting = evaluate(sums, { systems: { one: machine }, scorers: {} });
  await expect(waiting).rejects.toThrow('cases: for "small", idle waits in "waiting"; expected a machine that ends');
  const { cases: results } = await evaluate([{ name: 'both', request: 'Is it so?', input: { text: '1 + 1' } }], {
    systems: { chain: answering('2').options, machine: adder([2]).machine },
    scorers: { right: (output) => (typeof output === 'number' ? output === 2 : output.answerText === '2') },
  });
  expect(results.map(({ scores }) => scores)).toEqual([{ right: 1 }, { right: 1 }]);
});
