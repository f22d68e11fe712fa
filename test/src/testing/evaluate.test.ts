import { expect, it } from 'vitest';
import { memoryJournals } from '../../../src/chain/journal/stores.ts';
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
  const { cases: results, chains } = await evaluate(cases, {
    chains: { optimist: yes.options, pessimist: no.options },
    scorers,
  });
  expect(results.map(({ name, chain, scores }) => [name, chain, scores['correct']])).toEqual([
    ['first', 'optimist', 1],
    ['first', 'pessimist', 0],
    ['second', 'optimist', 0],
    ['second', 'pessimist', 1],
  ]);
  expect(chains['optimist']).toMatchObject({ scores: { correct: 0.5, short: 1 / 3 }, completed: 1, cost: null });
  expect(chains['optimist']?.modelCalls).toBe(yes.model.calls.length);
});

it('scores stored answers again without a call, until it is told to ask again', async () => {
  const journals = memoryJournals();
  const chains = { one: answering('yes').options };
  const first = await evaluate(cases, { chains, scorers, journals });
  const silent = answering('no');
  const again = { chains: { one: silent.options }, scorers, journals };
  const second = await evaluate(cases, again);
  expect(second.cases.map(({ isStored, answer }) => [isStored, answer])).toEqual(
    first.cases.map(({ answer }) => [true, answer]),
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
  const { cases: results } = await evaluate(cases, { chains: { one: { model, capabilities: [pay] } }, scorers });
  expect(results.map(({ answer }) => answer.status)).toEqual(['degraded', 'degraded']);
  expect(ran).toEqual([]);
});

it('is printed as a table, with the cases that are not right', async () => {
  const evaluation = await evaluate(cases, { chains: { one: answering('yes').options }, scorers });
  const [head, , row, , ...wrong] = evaluationText(evaluation).split('\n');
  expect(head).toBe('| chain | correct | short | completed | model calls | tokens in | tokens out | cost |');
  expect(row).toMatch(/^\| one \| 50 % \| 33 % \| 100 % \| 14 \| \d+ \| \d+ \| – \|$/u);
  expect(wrong[1]).toMatch(/^- second \(one\): correct 0 %, short 33 %; completed; evaluation-[\da-f]{32}$/u);
});

it.each([
  ['names that repeat', [cases[0], cases[0]], scorers, 'cases: expected cases with unique names; received 2.'],
  ['no scorers', cases, undefined, 'scorers: expected an object with scorers by name; received undefined.'],
  ['no case', [], scorers, 'cases: expected cases with unique names; received 0.'],
  [
    'the name of a column',
    cases,
    { completed: () => 1 },
    'scorers.completed: expected a name other than chain, completed, ',
  ],
  [
    'a score above 1',
    cases,
    { size: () => 7 },
    'scorers.size: for the case "first": expected a number from 0 to 1, true or false; received 7.',
  ],
])('rejects %s', async (_, given, scored, message) => {
  const evaluation = evaluate(given as readonly Case[], {
    chains: { one: answering('yes').options },
    scorers: scored as never,
  });
  await expect(evaluation).rejects.toThrow(message);
});
