import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { type SynthesizeOptions, synthesizeAnswer } from '../../../../src/chain/synthesize-answer.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { aMessage, deepFreeze } from '../../../support/contract-samples.ts';
import { runToCompletion } from '../../../support/synthesis-oracle.ts';

/** An execution result of another program that follows only the contract. */
const input = deepFreeze({
  request: 'Deploy a web application',
  executionResults: [
    { stepId: 's1', phase: 'build', content: 'The image was built.' },
    { stepId: 's2', phase: 'deploy', content: 'It runs at port 80.' },
  ],
  planState: { goal: 'a running application', alternatives: [] },
  convergenceAssessment: { change: 0.01, confidence: 0.8, rationale: 'every step is done' },
  correlationId: 'abc123',
  executionStartTimestamp: '1970-01-01T00:00:00Z',
  convergenceStatus: true,
  totalPasses: 3,
  totalRefinements: 1,
  ttlRemaining: 2,
});
const reply = { answerText: 'The application runs at port 80.', confidence: 0.9, usedMessageIds: [], notes: '' };
const usage = { inputTokens: 200, outputTokens: 50, estimated: false };
const always = (entry: object) => scriptedModel(() => entry as never, { usage });

describe('synthesis by itself', () => {
  it('[E1] [E2] lets a model write the answer from the contract alone', async () => {
    const clock = new SimulatedClock();
    clock.increment(4_000);
    const model = always(reply);
    const answer = await synthesizeAnswer(input, { model, clock });
    expect(finalAnswerSchema.parse(answer)).toMatchObject({
      answerText: reply.answerText,
      confidence: 0.9,
      usedStepIds: ['s2'],
      status: 'completed',
      ttlExhausted: false,
      metadata: {
        missingFields: [],
        synthesis: { writtenBy: 'model', fallback: null, error: null },
        usage: { modelCalls: 1, inputTokens: 200, outputTokens: 50 },
        budget: {
          totalMs: { limit: null, used: 4_000 },
          ttl: { limit: 5, used: 3, left: 2 },
          synthesisReserveTokens: { limit: 32_000, used: 250 },
        },
      },
    });
    expect(model.calls[0]?.turns[1]?.content).toContain('It runs at port 80.');
  });

  it.each<[string, unknown]>([
    ['request', 'Deploy a mobile application'],
    ['executionResults', [{ stepId: 's1', phase: 'build', content: 'The build failed.' }]],
    ['planState', { goal: 'a stopped application' }],
    ['convergenceAssessment', { change: 0.01, confidence: 0.8, rationale: 'nothing is left to do' }],
    ['executionPasses', [{ pass: 1, refined: ['s2'] }]],
    ['semanticValidation', { issues: ['the port is not confirmed'] }],
    ['taskProfile', { complexity: 'high' }],
    ['executionStartTimestamp', '1969-12-31T23:59:59Z'],
    ['convergenceStatus', false],
    ['totalPasses', 2],
    ['totalRefinements', 7],
    ['ttlRemaining', 0],
  ])('[E2] uses the field %s: another value changes the prompt, the answer, or its metadata', async (field, value) => {
    const outcomeOf = async (given: object) => {
      const model = always(reply);
      const answer = await synthesizeAnswer(given, { model, clock: new SimulatedClock() });
      return { answer, turns: model.calls[0]?.turns };
    };
    expect(await outcomeOf({ ...input, [field]: value })).not.toEqual(await outcomeOf(input));
  });

  it('[E9] composes the answer without a model from the last result, with the confidence of the run', async () => {
    expect(await synthesizeAnswer(input)).toMatchObject({
      answerText: 'It runs at port 80.',
      confidence: 0.8,
      status: 'completed',
      metadata: { synthesis: { writtenBy: 'engine', fallback: null }, usage: { modelCalls: 0 } },
    });
  });

  it('[E9] calls no model if the options or the run reserve nothing for it', async () => {
    const model = always(reply);
    const run = { limits: { synthesisReserveTokens: 0 } };
    for (const answer of [
      await synthesizeAnswer(input, { model, limits: { synthesisReserveTokens: 0 } }),
      await synthesizeAnswer({ ...input, run }, { model }),
    ])
      expect(answer).toMatchObject({
        status: 'completed',
        metadata: { budget: { synthesisReserveTokens: { limit: 0 } } },
      });
    expect(model.calls).toHaveLength(0);
    await synthesizeAnswer({ ...input, run }, { model, limits: { synthesisReserveTokens: 4_000 } });
    expect(model.calls).toHaveLength(1);
  });

  it('[E4] accepts a custom prompt and uses the fallback "prompt" if it throws or rejects the input', async () => {
    const model = always(reply);
    const own = { ...prompts.synthesis, user: () => 'In my words.' };
    await synthesizeAnswer(input, { model, prompts: { synthesis: own } });
    expect(model.calls[0]?.turns[1]?.content).toBe('In my words.');
    const broken = { ...prompts.synthesis, user: () => null as never };
    const picky = { ...prompts.synthesis, input: prompts.action.input };
    const says = /^(Cannot read properties of null.*|The prompt "synthesis" received an invalid input: phase: .+)$/;
    for (const synthesis of [broken, picky])
      expect((await synthesizeAnswer(input, { model, prompts: { synthesis } })).metadata).toMatchObject({
        reason: 'synthesis_failed',
        synthesis: { writtenBy: 'engine', fallback: 'prompt', error: expect.stringMatching(says) },
      });
    expect(model.calls).toHaveLength(1);
  });

  it('[E3] [E4] composes the answer when the reserved time is over', async () => {
    const clock = new SimulatedClock();
    const model = always({ hang: true });
    let answered = false;
    const promise = synthesizeAnswer(input, { model, clock, limits: { synthesisMs: 3_000 } }).finally(() => {
      answered = true;
    });
    await settle();
    clock.increment(2_999);
    await settle();
    expect(answered).toBe(false);
    clock.increment(1);
    expect(await promise).toMatchObject({
      answerText: 'It runs at port 80.',
      metadata: { synthesis: { fallback: 'model', error: 'There was no value within 3000 ms.' } },
    });
  });

  it('[E3] aborts and counts the call immediately when aborted, reports the cancellation, and cleans up', async () => {
    const clock = new SimulatedClock();
    const abort = new AbortController();
    const model = always({ hang: true, text: '{"answerText"' });
    const promise = synthesizeAnswer(input, { model, clock, signal: abort.signal });
    await settle();
    abort.abort();
    const answer = await promise;
    expect(answer).toMatchObject({
      answerText: 'It runs at port 80.',
      status: 'cancelled',
      notes: 'The run was canceled (the signal was aborted).',
      metadata: { reason: 'cancelled', synthesis: { writtenBy: 'engine', fallback: null, error: null } },
    });
    expect(answer.metadata.usage.modelCalls).toBe(1);
    expect(answer.metadata.usage.inputTokens).toBeGreaterThan(0);
    clock.increment(600_000);
    expect(model.calls).toHaveLength(1);
  });

  it('[E3] never rejects, even for a throwing clock or unreadable input', async () => {
    const clock = {
      now: (): never => {
        throw new Error('no time');
      },
      setTimeout: () => 0,
      clearTimeout: () => {},
    };
    expect((await synthesizeAnswer(input, { model: always(reply), clock })).metadata.synthesis).toEqual({
      writtenBy: 'engine',
      fallback: 'other',
      error: 'no time',
    });
    for (const given of [null, undefined, 'x', new Proxy({}, { get: () => Promise.reject })])
      expect(await synthesizeAnswer(given, { model: always(reply) })).toMatchObject({
        status: 'degraded',
        metadata: { reason: 'incomplete_state' },
      });
  });

  it.each<[string, unknown, string | RegExp]>([
    ['a misspelled option', { modle: 1 }, 'modle: unknown option'],
    ['no model', { model: {} }, /model: expected a model.*; received an object with no keys/],
    ['no signal', { signal: 5 }, /signal: expected an AbortSignal.*; received 5/],
    ['an invalid limit', { limits: { synthesisMs: -1 } }, /limits\.synthesisMs: .*; received -1/],
    [
      'the prompt of another task',
      { prompts: { synthesis: prompts.action } },
      /prompts\.synthesis: expected a prompt named "synthesis"; received one named "action"/,
    ],
    ['a prompt of another task', { prompts: { action: prompts.action } }, 'prompts.action: unknown option'],
  ])('rejects invalid options before the start: %s', (_, options, says) => {
    expect(() => synthesizeAnswer(input, options as SynthesizeOptions)).toThrow(says);
  });
});

describe('the token reserve', () => {
  /** Counts tokens like a provider: those of every prompt and every reply. */
  const tokensOf = (requests: readonly ModelRequest[], said: number): number =>
    requests.flatMap(({ turns }) => turns).reduce((sum, { content }) => sum + content.length, 0) / 4 + said / 4;
  const long = Array.from({ length: 300 }, (_, at) =>
    aMessage({ id: `m${at}`, role: 'search', content: `Report ${at}. ${'The tide was low. '.repeat(20)}` }),
  );

  it.each([1_000, 3_000, 8_000])(
    '[E9] of %d tokens is enough for the prompt and reply of a call with any context',
    async (reserve) => {
      const model = always({ ...reply, answerText: 'x'.repeat(500) });
      const answer = await synthesizeAnswer(
        { ...input, run: { messages: long } },
        { model, limits: { synthesisReserveTokens: reserve } },
      );
      expect(answer.metadata.synthesis.writtenBy).toBe('model');
      expect(tokensOf(model.calls, 600)).toBeLessThan(reserve);
    },
  );

  it('[E9] limits an endless reply', async () => {
    const model = always({ text: `{"answerText": "${'x'.repeat(200_000)}"}` });
    const answer = await runToCompletion(
      synthesizeAnswer(input, { model, clock: new SimulatedClock(), limits: { synthesisReserveTokens: 2_000 } }),
      new SimulatedClock(),
    );
    expect(answer.metadata.synthesis.fallback).toBe('validation');
    expect(model.calls).toHaveLength(1);
  });

  it('[E9] pays for a correction only if another prompt fits into the rest', async () => {
    const calls = async (inputTokens: number) => {
      const model = scriptedModel(() => ({ answerText: '' }), { usage: { ...usage, inputTokens } });
      const answer = await synthesizeAnswer(input, { model, limits: { synthesisReserveTokens: 2_000 } });
      expect(answer.metadata.synthesis.fallback).toBe('validation');
      return model.calls.length;
    };
    expect(await calls(975)).toBe(2);
    expect(await calls(976)).toBe(1);
  });
});
