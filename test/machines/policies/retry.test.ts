import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptPolicy } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { newModels } from '../../../machines/contracts/model-status.ts';
import { failureOf, NO_FAILURE, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { phaseAttempt } from '../../../machines/policies/phase-calls.ts';
import { backoffMs, fallbackDue, isHopeless, recordAttempt, retryAllowed } from '../../../machines/policies/retry.ts';
import { writingInput } from '../../../machines/policies/synthesis/writing.ts';
import { aFailure, anAttempt, anExecution, aState, deepFreeze } from '../../support/contract-samples.ts';

const policyOfPhase = (changes: Parameters<typeof aState>[0] = {}) =>
  phaseAttempt(aState({ phase: 'yield', ...changes })).policy;
const policy = (changes: Partial<AttemptPolicy> = {}): AttemptPolicy => ({
  ...policyOfPhase(),
  ...changes,
});
const wrong = aFailure({ stage: 'schema' });
const lost = aFailure({ stage: 'transport', code: 'rate_limited', status: 429 });
const fresh = anExecution({
  attempts: [],
  usage: { modelCalls: 0, inputTokens: 0, outputTokens: 0, estimated: false, cost: null },
});

const route = { task: 'yield', models: newModels(1), model: 0, gaveUp: [] } as const;

describe('retries', () => {
  it('[A4] never exceed the calls that the run has left', () => {
    const usage = { modelCalls: 99, inputTokens: 0, outputTokens: 0, estimated: false, cost: null };
    expect(policyOfPhase({ usage }).maxCalls).toBe(1);
  });

  it('[A4] [E9] continue while the prompt fits into the remaining tokens', () => {
    const usage = { inputTokens: 150, outputTokens: 100, estimated: false };
    const execution = recordAttempt(fresh, anAttempt({ failure: wrong, usage }), []);
    const allowed = (maxTokens: number | null) => retryAllowed(execution, wrong, policy({ maxTokens }), 0, route);
    expect([null, 400, 399].map((maxTokens) => allowed(maxTokens).holds)).toEqual([true, true, false]);
    expect(allowed(399).inputs).toMatchObject({ tokens: 250, promptTokens: 150, maxTokens: 399 });
    const next = (maxTokens: number) =>
      fallbackDue(execution, wrong, policy({ maxTokens, maxFallbacks: 1, fallbackAfter: 1 }), 0, route);
    expect([next(400).holds, next(399).holds]).toEqual([true, false]);
  });

  it('[C4] [E9] add one call per fallback model, for a phase and for the final answer', () => {
    expect(policyOfPhase({ fallbackModels: 2 })).toMatchObject({ maxFallbacks: 2 });
    expect(writingInput(aState({ fallbackModels: 2 })).policy).toMatchObject({ maxFallbacks: 2, maxCalls: 5 });
    expect(policyOfPhase()).toMatchObject({ maxFallbacks: 0 });
  });

  it('[A13] are not made for an unexpected exception, which is reported in one line', () => {
    const failure = unexpectedFailure(new Error('it broke\nat line 3'));
    expect(failure).toMatchObject({ stage: 'unexpected', message: 'it broke', retryable: false });
    expect(isHopeless(failure).holds).toBe(true);
    expect(isHopeless(NO_FAILURE).holds).toBe(true);
    for (const thrown of ['', null, undefined, {}, new Error('')])
      expect(unexpectedFailure(thrown).message).not.toBe('');
    expect(failureOf('schema', 'c', 'm')).toMatchObject({ retryable: true, issues: [] });
  });

  it.each<[string, unknown, string]>([
    ['an error with a cause', new TypeError('fetch failed', { cause: new Error('refused') }), 'fetch failed (refused)'],
    ['an error that repeats its cause', new Error('it was refused', { cause: new Error('refused') }), 'it was refused'],
    [
      'an error of PostChain, whose message is complete',
      new PostChainError('package_missing', 'run: npm install x', { cause: new Error('not found') }),
      'run: npm install x',
    ],
    ['several errors in one', new AggregateError([new Error('refused'), new Error('lost')]), 'refused'],
    ['a message after blank lines', new Error('\n\n  it broke\nhere'), 'it broke'],
    [
      'a validation error',
      Object.assign(new Error('[\n  {}\n]'), {
        issues: [{ path: ['a', 0], message: 'too short' }, { message: 'odd' }],
      }),
      'a.0: too short; odd',
    ],
    ['issues that are none', Object.assign(new Error('it broke'), { issues: [null] }), 'it broke'],
  ])('[A13] are reported with the reason of %s', (_, thrown, message) => {
    expect(unexpectedFailure(thrown).message).toBe(message);
  });

  it('[A4] record guard results with the compared values', () => {
    expect(retryAllowed(fresh, lost, policy(), 0, route).inputs).toEqual({
      kind: 'transport',
      used: 0,
      allowed: 3,
      calls: 0,
      maxCalls: 100,
      waitMs: policy().backoffBaseMs,
      leftMs: policy().parentMs,
      tokens: 0,
      promptTokens: 0,
      maxTokens: 1_000_000,
    });
  });

  it('[A5] [A11] record each attempt in a new execution and add its usage', () => {
    const before = deepFreeze(anExecution());
    const usage = { inputTokens: 7, outputTokens: 3, estimated: true };
    const after = recordAttempt(before, deepFreeze(anAttempt({ attempt: 2, failure: wrong, usage })), []);
    expect(after.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(after.usage).toEqual({ modelCalls: 2, inputTokens: 17, outputTokens: 8, estimated: true, cost: null });
    expect(before.attempts.length).toBe(1);
  });
});

it('[A13] a thrown value of any type becomes a failure with a message', () => {
  const odd = [Object.create(null), { toString: () => [] }, Symbol('s'), Object.assign(new Error(), { message: 7 })];
  fc.assert(
    fc.property(fc.anything({ withNullPrototype: true }), (thrown) => {
      expect(unexpectedFailure(thrown).message).not.toBe('');
      expect(unexpectedFailure(thrown).message).not.toContain('\n');
    }),
    { examples: odd.map((thrown) => [thrown]) },
  );
});

describe('the delay before a retry', () => {
  it('[A3] doubles up to its maximum for transport failures and is zero for a correction', () => {
    const given = policy({ backoffBaseMs: 500, backoffMaxMs: 3_000 });
    const waits = [0, 1, 2, 3, 4].map((transportRetries) => backoffMs({ ...fresh, transportRetries }, lost, given));
    expect(waits).toEqual([500, 1_000, 2_000, 3_000, 3_000]);
    expect(backoffMs({ ...fresh, transportRetries: 4 }, wrong, given)).toBe(0);
  });

  it('[A13] never exceeds the timer limit', () => {
    const wait = backoffMs(fresh, { ...lost, retryAfterMs: 60 * 24 * 3_600_000 }, policy());
    expect(wait).toBeLessThanOrEqual(2 ** 31 - 1);
  });
});
