import { describe, expect, it } from 'vitest';
import { continuationInputSchema } from '../../../../machines/contracts/capability.ts';
import { actionAttempt, continuationAttempt, joinExecutions } from '../../../../machines/policies/continuation.ts';
import { newExecution } from '../../../../machines/policies/retry.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import { anActionState } from '../../../support/action-machine.ts';
import { aCapabilityResult, anAttempt, deepFreeze } from '../../../support/contract-samples.ts';

const outputs = (count: number, chars: number) =>
  Array.from({ length: count }, () => aCapabilityResult({ output: 'x'.repeat(chars) }));

/** Builds the part of the loop that the prompt of the deciding model shows. */
const shownOf = (changes: Parameters<typeof anActionState>[0]) =>
  continuationInputSchema.parse(continuationAttempt(deepFreeze(anActionState(changes))).input);

const used = (modelCalls: number, inputTokens: number, outputTokens: number) => ({
  execution: {
    ...newExecution({ id: 's1.action', task: 'action' }),
    usage: { ...NO_USAGE, modelCalls, inputTokens, outputTokens },
  },
});

describe('limits for the model calls of a loop', () => {
  it('[R1] equal the token budget of the loop for the single classification call', () => {
    const loop = anActionState({ maxTokens: 70 });
    expect(actionAttempt(loop)).toEqual({
      id: 's1.action',
      task: 'action',
      instructions: null,
      input: loop.input,
      policy: { ...loop.policy, maxTokens: 70 },
      models: loop.models,
      hasParent: true,
    });
  });

  it('[R6] equal the remaining tokens for each later call, which has its own id', () => {
    const { policy } = anActionState();
    const continuationPolicy = { ...policy, maxCalls: 5 };
    const loop = anActionState({ runs: 2, maxTokens: 100, continuationPolicy, ...used(2, 40, 25) });
    expect(continuationAttempt(loop)).toMatchObject({
      id: 's1.action.c2',
      task: 'continuation',
      policy: { ...policy, maxCalls: 3, maxTokens: 35 },
    });
  });

  it('are never below the minimum for one attempt', () => {
    const { policy } = anActionState();
    const spent = anActionState({ maxTokens: 0, continuationPolicy: { ...policy, maxCalls: 1 }, ...used(1, 40, 25) });
    expect(actionAttempt(spent).policy.maxTokens).toBe(1);
    expect(continuationAttempt(spent).policy).toMatchObject({ maxCalls: 1, maxTokens: 1 });
  });
});

describe('the prompt of the deciding model', () => {
  it('[R6] lists every step, oldest first, with its input and outcome', () => {
    const results = [
      aCapabilityResult({ output: 'a draft' }),
      aCapabilityResult({ capability: 'review', success: false, output: '', code: 'threw', error: 'no pen' }),
    ];
    const reply = { response: 'I draft.', confidence: 0.5, calls: [] };
    expect(shownOf({ results, runs: 2, maxContinuations: 5, reply })).toMatchObject({
      request: 'Write a note.',
      response: 'I draft.',
      steps: [
        { capability: 'draft', arguments: '{"topic":"bridges"}', success: true, output: 'a draft' },
        { capability: 'review', arguments: '{"topic":"bridges"}', success: false, output: 'no pen' },
      ],
      earlier: [],
      runsLeft: 3,
      capabilities: [{ name: 'draft' }, { name: 'review' }],
    });
  });

  it('shows most of the last step, less of earlier steps, and the start of long arguments', () => {
    const [first, last] = shownOf({ results: outputs(2, 10_000) }).steps;
    expect([first?.output.length, last?.output.length]).toEqual([2_000, 8_000]);
    const [step] = shownOf({ results: [aCapabilityResult({ arguments: { text: 'x'.repeat(1_000) } })] }).steps;
    expect(step?.arguments).toHaveLength(500);
  });

  it('shows at most 48,000 characters of the newest steps and notes the omitted ones', () => {
    const steps = shownOf({ results: outputs(40, 2_000) }).steps;
    const chars = steps.map(({ output }) => output.length);
    expect(chars).toEqual([...Array(16).fill(0), ...Array(24).fill(2_000)]);
  });

  it('shows the newest 64 steps individually and counts older ones by name', () => {
    const failed = { success: false, output: '', code: 'threw', error: 'no pen' } as const;
    const early = [aCapabilityResult(), aCapabilityResult({ capability: 'review', ...failed }), aCapabilityResult()];
    const { steps, earlier } = shownOf({ results: [...early, ...outputs(64, 1)] });
    expect(steps).toHaveLength(64);
    expect(earlier).toEqual([
      { capability: 'draft', runs: 2, failed: 0 },
      { capability: 'review', runs: 1, failed: 1 },
    ]);
  });
});

it('[A11] the model calls of a loop add up to one execution that keeps the newest attempts', () => {
  const attempts = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => anAttempt({ attempt: from + at }));
  const usage = { modelCalls: 1, inputTokens: 2, outputTokens: 3, estimated: false, cost: 0 };
  const first = {
    ...newExecution({ id: 's1.action', task: 'action' }),
    attempts: attempts(1, 10),
    corrections: 1,
    transportRetries: 2,
    fallbacks: 3,
    usage,
  };
  const second = { ...first, id: 's1.action.c1', task: 'continuation', attempts: attempts(11, 10) };
  expect(joinExecutions(first, second)).toEqual({
    id: 's1.action',
    task: 'action',
    attempts: attempts(5, 16),
    corrections: 2,
    transportRetries: 4,
    fallbacks: 6,
    usage: { ...usage, modelCalls: 2, inputTokens: 4, outputTokens: 6 },
  });
});
