import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { sourceOf } from '../../../support/contract-samples.ts';
import { chainOf, settle } from '../../../support/run-chain.ts';

const passages = [1, 2, 3].map((number) => ({
  id: `p${number}`,
  text: `It has been so since year ${number}, as the papers say. `.repeat(8),
  heading: ['Years'],
  source: { path: 'years.md', startLine: number },
  relevance: 0.9,
}));
const documents = sourceOf(...passages);

const isPhase = ({ schemaName }: ModelRequest): boolean => schemaName === 'chain_reply';

/** The prompt as one text, beginning with the schema, as some providers order it. */
const textOf = ({ outputSchema, turns }: ModelRequest): string =>
  [JSON.stringify(outputSchema), ...turns.map(({ content }) => content)].join('\n');

function commonLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

describe('the prompts of a cycle', () => {
  it('begin alike: a call repeats at least 80 % of the prompt before it', async () => {
    const model = scriptedModel({}, { otherwise: replies });
    const chain = chainOf(model, { documents, instructions: 'Be brief.', limits: { maxCycles: 1 } });
    await chain.run({ request: 'Is it so?' }).answer;
    const phases = model.calls.filter(isPhase);
    expect(phases).toHaveLength(6);
    for (const [at, request] of phases.slice(1).entries()) {
      const [before, now] = [textOf(phases[at] as ModelRequest), textOf(request)];
      expect(commonLength(before, now) / before.length, request.task).toBeGreaterThan(0.8);
    }
  });

  it('have the marker for the cache where the task begins', async () => {
    const model = scriptedModel({}, { otherwise: replies });
    await chainOf(model, { documents }).run({ request: 'Is it so?' }).answer;
    for (const { task, turns } of model.calls.filter(isPhase)) {
      const [, { content, cachedChars = 0 } = { content: '' }] = turns;
      expect(content.slice(0, cachedChars)).not.toContain('Phase:');
      expect(content.slice(cachedChars)).toContain(`Reply with the member "${task}" only.`);
    }
  });
});

describe('a reply to a phase', () => {
  it.each([
    ['with its member', (reply: object, task: string) => ({ [task]: reply })],
    [
      'with null for the other members, as in strict mode',
      (reply: object, task: string) => ({ action: null, yield: null, [task]: reply }),
    ],
    ['without the member around it', (reply: object) => reply],
  ])('is accepted %s', async (_, form) => {
    const model = scriptedModel(({ task }) => {
      const reply = replies[task as keyof typeof replies];
      return task === 'synthesis' ? { reply } : { reply: form(reply, task) };
    });
    const { status } = await chainOf(model).run({ request: 'Is it so?' }).answer;
    expect({ status, calls: model.calls.length }).toEqual({ status: 'completed', calls: 7 });
  });

  it('[A9] is corrected with the path of the error inside its member', async () => {
    const intention = [{ reply: { intention: { goal: 3 } } }, replies.intention];
    const model = scriptedModel({ intention }, { otherwise: replies });
    await chainOf(model).run({ request: 'Is it so?' }).answer;
    expect(model.calls.find(({ turns }) => turns.length > 2)?.turns.at(-1)?.content).toContain('intention.goal');
  });
});

describe('the cost of an answer', () => {
  const usage = { inputTokens: 1_000, cachedInputTokens: 800, outputTokens: 100, estimated: false };
  const models = { scripted: { inputPerMillion: 1_000, cachedInputPerMillion: 100, outputPerMillion: 10_000 } };

  it('[A11] names each task with its share, failed calls included, and what the cache saved', async () => {
    const script = { observation: [{ failure: {}, usage }, replies.observation] };
    const model = scriptedModel(script, { otherwise: replies, usage });
    const limits = { backoffBaseMs: 0 };
    const chain = chainOf(model, { limits, prices: { currency: 'EUR', models } });
    const { metadata } = await chain.run({ request: 'Is it so?' }).answer;
    // 200 tokens at 0.001, 800 at 0.0001 and 100 at 0.01.
    const one = 1.28;
    expect(metadata.cost).toMatchObject({
      currency: 'EUR',
      byTask: { action: one, observation: 2 * one, synthesis: one },
    });
    expect(metadata.cost?.amount).toBeCloseTo(8 * one, 9);
    expect(metadata.cost?.savedByCache).toBeCloseTo(8 * 0.72, 9);
  });

  it('[A11] charges the unfinished summaries of a canceled run to their task', async () => {
    const script = { summary: [{ hang: true }] } as const;
    const model = scriptedModel(script, { otherwise: replies, usage });
    const content = `Please look into the cellar. ${'The cellar is a long story. '.repeat(60)}`;
    const prices = { currency: 'EUR', models };
    const chain = chainOf(model, { consent: 'ask', prices });
    const history = [{ role: 'user', content } as const, { role: 'assistant', content: 'I will look.' } as const];
    const run = chain.run({ request: 'Is it so?', history });
    await settle();
    run.cancel();
    const { metadata } = await run.answer;
    expect(metadata.cost?.byTask['understanding']).toBe(1.28);
    expect(metadata.cost?.byTask['summary']).toBeGreaterThan(0);
  });
});
