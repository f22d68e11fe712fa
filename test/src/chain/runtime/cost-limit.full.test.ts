import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TokenUsage } from '../../../../machines/contracts/usage.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { anError } from '../../../support/errors.ts';
import {
  capabilityNamed,
  entriesOf,
  settle,
  startScripted,
  unsureAnswer,
  workCall,
} from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

/** Per million tokens. A call of 8,000 tokens in and 100 out costs 2. */
const PRICE = { inputPerMillion: 125, cacheWritePerMillion: 125, outputPerMillion: 10_000 };
const prices = { currency: 'EUR', models: { scripted: PRICE } };
const usage: TokenUsage = { inputTokens: 8_000, outputTokens: 100, estimated: false };

/** A model that never has a good answer, whose replies have as many tokens as they may. */
const unsureModel = () =>
  scriptedModel(({ task }, call) => (task === 'yield' ? unsureAnswer(call) : replies[task as 'action']), {
    usage,
    maxOutputTokens: 100,
    contextWindowTokens: 100_000,
  });

const start = (maxCost: number, options: PostChainOptions = {}) => {
  const model = options.model ?? unsureModel();
  const limits = { maxCycles: 10, ...options.limits, maxCost };
  return createPostChain({ profile: 'thorough', prices, ...options, model, limits }).run({ request: 'Is it so?' });
};

describe('the cost limit of a run', () => {
  it.each([0.001, 1, 5, 20, 40])('[A11] is not exceeded: %d', async (maxCost) => {
    const run = start(maxCost);
    const { metadata, answerText, notes } = await run.answer;
    expect(metadata.cost?.amount).toBeLessThanOrEqual(maxCost);
    expect(metadata).toMatchObject({ reason: 'budget_exhausted', budget: { cost: { limit: maxCost } } });
    expect(notes).toContain(`could exceed the cost limit of ${maxCost} EUR`);
    expect(answerText).not.toBe('');
    expect(metadata.failures).toEqual([]);
    if (maxCost > 10) expect(metadata.cost?.amount).toBeGreaterThan(maxCost / 2);
    expect(replay(run.entries).divergence).toBeNull();
  });

  it('[A11] does not end a run that stays below it', async () => {
    const { metadata } = await start(1_000, { limits: { maxCycles: 1 } }).answer;
    expect(metadata).toMatchObject({ reason: 'cycle_limit_reached', cost: { amount: 14 } });
  });

  it('[A11] is a guard of the chart, with the values that it compared', async () => {
    const run = start(5);
    await run.answer;
    const taken = entriesOf(run, 'transition').flatMap(({ candidates }) =>
      candidates.filter(({ guard, result }) => guard === 'costLimitReached' && result === 'taken'),
    );
    expect(taken.map(({ inputs }) => inputs)).toEqual([
      { promptTokens: 8_000, mostCost: 2, spent: 0, maxCost: 1 },
      { cost: 4, maxCost: 5, code: 'over_budget' },
    ]);
  });

  it('[A11] [S3] counts the prompt before the call, and makes none that is too long', async () => {
    const model = scriptedModel({}, { otherwise: replies, maxOutputTokens: 100, contextWindowTokens: 1_000_000 });
    const run = createPostChain({ model, prices, limits: { maxCost: 2 } }).run({ request: 'word '.repeat(10_000) });
    expect((await run.answer).metadata).toMatchObject({ reason: 'budget_exhausted', cost: { amount: 0 } });
    expect(model.calls).toEqual([]);
  });

  it('[A11] reserves the cost of a call that starts early, and of the calls beside it', async () => {
    const model = scriptedModel(
      ({ task }) =>
        task === 'intention'
          ? { text: '{"goal": 3}', usage }
          : task === 'observation'
            ? { hang: true }
            : replies[task as 'action'],
      { usage, maxOutputTokens: 100 },
    );
    const run = start(10, { model, limits: { maxCorrections: 100 } });
    const { metadata } = await run.answer;
    expect(entriesOf(run, 'attempt-start').map(({ attemptId }) => attemptId)).toContain('s4.observation.early');
    // The early call is aborted, so only its prompt is charged.
    expect(metadata).toMatchObject({ reason: 'budget_exhausted', cost: { amount: 9 } });
    expect(model.calls.filter(({ task }) => task === 'intention')).toHaveLength(2);
  });

  it('[A11] bounds the steps of a capability loop', async () => {
    const work = capabilityNamed('work', () => 'done');
    const reply = { ...replies.action, calls: [workCall] };
    const model = scriptedModel(
      ({ task }, call) =>
        task === 'continuation'
          ? { done: false, finalOutput: null, next: [{ ...workCall, arguments: JSON.stringify({ call }) }] }
          : task === 'action'
            ? reply
            : replies[task as 'yield'],
      { usage, maxOutputTokens: 100 },
    );
    const options = {
      model,
      capabilities: [work],
      continuation: 'model' as const,
      limits: { maxContinuations: 50, maxSameCalls: 50 },
    };
    const { metadata } = await start(7, options).answer;
    expect(metadata).toMatchObject({ reason: 'budget_exhausted', cost: { amount: 6 } });
  });

  it('[A11] leaves the answer as it is if another call cannot be paid for it', async () => {
    const model = scriptedModel({}, { otherwise: replies, usage, maxOutputTokens: 100 });
    const { metadata, notes } = await start(13, { model, profile: { extends: 'thorough', writing: 'always' } }).answer;
    expect(metadata).toMatchObject({ cost: { amount: 12 }, synthesis: { writtenBy: 'engine' } });
    expect(notes).toContain('could exceed the cost limit');
  });

  it('[A11] may be lowered during a run, not without prices', async () => {
    const hangs = { action: { hang: true } } as const;
    const { run } = startScripted(hangs, {});
    await settle(100);
    run.send({ type: 'run.adjusted', limits: { maxCost: 1 } });
    expect(run.ref.getSnapshot().context.limits.maxCost).toBeNull();
    run.cancel();
    await run.answer;
    const priced = startScripted(hangs, { prices });
    await settle(100);
    priced.run.send({ type: 'run.adjusted', limits: { maxCost: 1 } });
    expect(priced.run.ref.getSnapshot().context.limits.maxCost).toBe(1);
  });

  it.each<[string, PostChainOptions, RegExp]>([
    ['prices', {}, /^limits\.maxCost: expected prices\.models\["offline-extractive"\], .*; received none\.$/u],
    ['the price of its model', { prices, model: scriptedModel({}, { id: 'other' }) }, /prices\.models\["other"\]/u],
    [
      'the price of a fallback model',
      { prices, model: scriptedModel({}), fallbackModels: [scriptedModel({}, { id: 'second' })] },
      /prices\.models\["second"\]/u,
    ],
    ['calls that are reserved', { prices, model: scriptedModel({}), gradingModel: scriptedModel({}) }, /gradingModel/u],
  ])('[A11] is rejected without %s', (_, options, message) => {
    const create = () => createPostChain({ ...options, limits: { maxCost: 1 } });
    expect(create).toThrow(anError('invalid_option', message));
  });

  it('[A11] is never exceeded if replies keep to their maximum and prompts to their count', async () => {
    const call = fc.record({
      outputTokens: fc.nat(100),
      cached: fc.double({ min: 0, max: 1, noNaN: true }),
      kind: fc.nat(9),
    });
    const run = fc.record({
      maxCost: fc.double({ min: 0.01, max: 30, noNaN: true }),
      calls: fc.infiniteStream(call),
      profile: fc.constantFrom('thorough' as const, 'balanced' as const, 'lean' as const),
      writing: fc.constantFrom('always' as const, 'if-needed' as const),
      price: fc.record({
        inputPerMillion: fc.nat(2_000),
        cachedInputPerMillion: fc.nat(2_000),
        outputPerMillion: fc.nat(20_000),
      }),
      counts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ maxCost, calls, profile, writing, price, counts }) => {
        const next = calls[Symbol.iterator]();
        const tokensOf = (text: string): number => Math.ceil(text.length / 3);
        const model = scriptedModel(
          (request, number) => {
            const { outputTokens, cached, kind } = next.next().value ?? { outputTokens: 1, cached: 0, kind: 0 };
            const inputTokens = request.turns.reduce((sum, { content }) => sum + tokensOf(content), 0);
            const cachedInputTokens = Math.floor(inputTokens * cached);
            const cacheWriteTokens = inputTokens - cachedInputTokens;
            const used = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, estimated: false };
            if (kind === 9) return { failure: { code: 'server_error', retryAfterMs: 0 }, usage: used };
            if (kind === 8) return { text: '{"answer": 3}', usage: kind % 2 === 0 ? used : null };
            const reply = request.task === 'yield' ? unsureAnswer(number) : replies[request.task as 'action'];
            return { reply, usage: used };
          },
          { maxOutputTokens: 100 },
        );
        const counting = { ...model, countTokens: async (texts: readonly string[]) => texts.map(tokensOf) };
        const { metadata } = await createPostChain({
          model: counts ? counting : model,
          profile: { extends: profile, writing },
          prices: { currency: 'EUR', models: { scripted: price } },
          limits: { maxCost, maxCycles: 3, backoffBaseMs: 0 },
        }).run({ request: 'Is it so?' }).answer;
        expect(metadata.cost?.amount).toBeLessThanOrEqual(maxCost);
      }),
      { numRuns: sampleSize('runs with a cost limit', 60, 2_000) },
    );
  });
});
