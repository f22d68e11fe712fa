import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ModelRequest } from '../../../../machines/contracts/model.ts';
import { finalAnswerSchema, type SynthesisInput } from '../../../../machines/contracts/synthesis.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { type SynthesizeOptions, synthesizeAnswer } from '../../../../src/chain/synthesize-answer.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { deepFreeze } from '../../../support/contract-samples.ts';
import { throwing } from '../../../support/errors.ts';

/** An execution result of another program that follows only the contract. */
const input: SynthesisInput = deepFreeze({
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

describe('the input of synthesis by itself', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each<[string, unknown, string]>([
    ['request', 5, 'request: expected a string; received 5.'],
    ['request', ' \u200b', 'request: expected a string with visible text; received " \u200b".'],
    ['executionResults', undefined, 'executionResults: expected an array; received undefined.'],
    ['executionResults', [{}, 5], 'executionResults.1: expected a record; received 5.'],
    ['planState', [], 'planState: expected a record; received an array of 0.'],
    ['planState', cyclic, 'planState: expected an object that can be written as JSON; received an object with self.'],
    ['convergenceAssessment', 0.9, 'convergenceAssessment: expected a record; received 0.9.'],
    ['executionPasses', 5, 'executionPasses: expected an array; received 5.'],
    ['semanticValidation', 'fine', 'semanticValidation: expected a record; received "fine".'],
    ['taskProfile', 'x', 'taskProfile: expected a record; received "x".'],
    ['correlationId', '', 'correlationId: expected a string with visible text; received "".'],
    [
      'executionStartTimestamp',
      '27.1.2025',
      'executionStartTimestamp: expected an ISO 8601 time; received "27.1.2025".',
    ],
    [
      'executionStartTimestamp',
      '2025-02-30T10:00:00Z',
      'executionStartTimestamp: expected an ISO 8601 time; received "2025-02-',
    ],
    ['convergenceStatus', 'yes', 'convergenceStatus: expected a boolean; received "yes".'],
    ['totalPasses', -1, 'totalPasses: expected a number of at least 0; received -1.'],
    ['totalRefinements', 0.5, 'totalRefinements: expected an integer; received 0.5.'],
    ['ttlRemaining', 'x', 'ttlRemaining: expected a number; received "x".'],
  ])('[E1] is rejected with the name of an invalid field: %s', (field, value, message) => {
    const act = () => synthesizeAnswer({ ...input, [field]: value });
    expect(act).toThrow(message);
    expect(act).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  });

  it('[E1] is rejected if it is not an object', () => {
    expect(() => synthesizeAnswer(null as never)).toThrow('input: expected an object; received null.');
  });

  it.each(['2025-01-27T10:00:00Z', '2025-01-27T10:00:00+02:00', '2025-01-27T10:00:00.123456'])(
    '[E1] may have the ISO time %s',
    async (executionStartTimestamp) => {
      expect((await synthesizeAnswer({ ...input, executionStartTimestamp })).status).toBe('completed');
    },
  );
});

describe('the correlation id', () => {
  it('[E2] is part of the metadata, and of the id of the call', async () => {
    const model = always(reply);
    const answer = await synthesizeAnswer(input, { model });
    expect(answer.metadata.correlationId).toBe('abc123');
    expect(model.calls).toHaveLength(1);
  });

  it.each([[undefined], [null]])('[E1] may be missing (%j): the answer is not degraded', async (correlationId) => {
    for (const options of [{}, { model: always(reply) }]) {
      const { status, metadata } = await synthesizeAnswer({ ...input, correlationId }, options);
      expect(status).toBe('completed');
      expect(metadata).not.toHaveProperty('correlationId');
    }
  });
});

describe('synthesis by itself', () => {
  it.each<[keyof SynthesisInput, unknown]>([
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
    const outcomeOf = async (given: SynthesisInput) => {
      const model = always(reply);
      const answer = await synthesizeAnswer(given, { model, clock: new SimulatedClock() });
      return { answer, turns: model.calls[0]?.turns };
    };
    expect(await outcomeOf({ ...input, [field]: value })).not.toEqual(await outcomeOf(input));
  });

  it('[E9] calls no model if nothing is reserved for it', async () => {
    const model = always(reply);
    expect(await synthesizeAnswer(input, { model, limits: { synthesisReserveTokens: 0 } })).toMatchObject({
      status: 'completed',
      metadata: { budget: { synthesisReserveTokens: { limit: 0 } } },
    });
    expect(model.calls).toHaveLength(0);
  });

  it.each<[string, Partial<SynthesisInput>, string]>([
    ['the TTL is exhausted', { ttlRemaining: 0, totalPasses: 0, convergenceStatus: false }, 'cycle_limit_reached'],
    ['no pass was completed', { totalPasses: 0, convergenceStatus: false }, 'zero_passes'],
    ['it did not converge', { convergenceStatus: false }, 'not_converged'],
    ['there are no results', { executionResults: [], ttlRemaining: 0 }, 'incomplete_state'],
  ])('[E3] [E5] answers when %s, whatever the model claims', async (_, changes, reason) => {
    const claims = { ttlExhausted: false, metadata: { degraded: false }, status: 'completed' };
    for (const entry of [{ ...reply, ...claims }, { text: '' }, { failure: { retryable: false } }]) {
      const answer = finalAnswerSchema.parse(
        await synthesizeAnswer({ ...input, ...changes }, { model: always(entry) }),
      );
      expect(answer.answerText.trim()).not.toBe('');
      expect(answer).toMatchObject({
        status: 'degraded',
        ttlExhausted: changes.ttlRemaining === 0,
        metadata: { reason },
      });
    }
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

  it('[E3] never rejects, even for a throwing clock', async () => {
    const clock = { now: throwing('no time'), setTimeout: () => 0, clearTimeout: () => {} };
    expect((await synthesizeAnswer(input, { model: always(reply), clock })).metadata.synthesis).toEqual({
      writtenBy: 'engine',
      fallback: 'other',
      error: 'no time',
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
  const executionResults = Array.from({ length: 300 }, (_, at) => {
    return { stepId: `s${at}`, phase: 'report', content: `Report ${at}. ${'The tide was low. '.repeat(20)}` };
  });

  it.each([1_000, 3_000, 8_000])(
    '[E9] of %d tokens is enough for the prompt and reply of a call with any results',
    async (reserve) => {
      const model = always({ ...reply, answerText: 'x'.repeat(500) });
      const answer = await synthesizeAnswer(
        { ...input, executionResults },
        { model, limits: { synthesisReserveTokens: reserve } },
      );
      expect(answer.metadata.synthesis.writtenBy).toBe('model');
      expect(tokensOf(model.calls, 600)).toBeLessThan(reserve);
    },
  );

  it('[E9] limits an endless reply', async () => {
    const model = always({ text: `{"answerText": "${Array.from({ length: 40_000 }, (_, at) => at).join('x')}"}` });
    const answer = await synthesizeAnswer(input, { model, limits: { synthesisReserveTokens: 2_000 } });
    expect(answer.metadata.synthesis.fallback).toBe('validation');
    expect(model.calls).toHaveLength(1);
  });
});
