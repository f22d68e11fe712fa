import { describe, expect, it } from 'vitest';
import { PostChainError } from '../../../../machines/contracts/error.ts';
import {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  withErrorFeedback,
} from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { Answer, namedModel, validCall } from '../../../support/structured-outputs.ts';

const model = namedModel('a', validCall);

function refusal(make: () => unknown): PostChainError {
  try {
    make();
  } catch (error) {
    if (error instanceof PostChainError) return error;
    throw error;
  }
  throw new Error('it was taken');
}

const withPolicy = (policy: unknown) =>
  createStructuredOutput({ model, schema: Answer, prompt: 'Is it so?', policy: policy as RetryPolicy });
const withLimits = (limits: object) => createStructuredOutput({ model, schema: Answer, prompt: 'Is it so?', limits });

const bad = [-1, Number.NaN, Number.POSITIVE_INFINITY];

describe('out-of-range numbers', () => {
  const made: readonly [field: string, named: string, make: (n: number) => unknown, alsoBad: readonly number[]][] = [
    ['maxCorrections', 'maxCorrections', maxCorrections, [1.5]],
    ['maxTransportRetries', 'maxTransportRetries', maxTransportRetries, [0.1]],
    ['backoffBaseMs', 'baseMs', (baseMs) => exponentialBackoff({ baseMs }), []],
    ['backoffMaxMs', 'maxMs', (maxMs) => exponentialBackoff({ maxMs }), []],
    ['backoffJitter', 'jitter', (jitter) => exponentialBackoff({ jitter }), [1.01]],
    ['maxFeedbackChars', 'maxChars', (maxChars) => withErrorFeedback({ maxChars }), [2.5]],
    ['fallbackAfter', 'after', (after) => fallbackModel(model, { after }), [0, 1.5]],
  ];

  for (const [, named, make, more] of made)
    it(`[A4] are rejected where the policy is created, by their option name: ${named}`, () => {
      for (const n of [...bad, ...more]) {
        const { code, message } = refusal(() => make(n));
        expect(code).toBe('invalid_option');
        expect(message.startsWith(`${named}: `)).toBe(true);
        expect(message.endsWith(`; received ${n}.`)).toBe(true);
        expect(message).toContain('expected');
        expect(message).not.toContain('\n');
      }
    });

  it('[A13] are rejected in the limits', () => {
    for (const field of ['firstChunkMs', 'chunkMs', 'totalMs', 'maxReplyChars', 'maxCalls'])
      for (const n of [...bad, 0]) {
        const { code, message } = refusal(() => withLimits({ [field]: n }));
        expect(code).toBe('invalid_option');
        expect(message.startsWith(`limits.${field}: `)).toBe(true);
        expect(message.endsWith(`; received ${n}.`)).toBe(true);
        expect(message).toContain('expected');
      }
    for (const field of ['maxReplyChars', 'maxCalls'])
      expect(refusal(() => withLimits({ [field]: 1.5 })).message).toMatch(
        new RegExp(`^limits.${field}: .*; received 1.5.$`),
      );
  });
});

describe('an invalid policy', () => {
  it('is rejected with the name of the invalid part', () => {
    for (const [policy, named] of [
      [{ maxCorrections: -1 }, 'policy.maxCorrections'],
      [{ backoffJitter: 1.01 }, 'policy.backoffJitter'],
      [{ maxCorrection: 1 }, 'maxCorrection'],
      [{ shouldRetry: true }, 'shouldRetry'],
      [{ recordFailure: 'never' }, 'recordFailure'],
      [{ prepareRetry: {} }, 'prepareRetry'],
      [{ finalizeOrThrow: 1 }, 'finalizeOrThrow'],
      [{ fallbackModels: [{}] }, 'fallbackModels'],
      [{ stopOnRepeatedError: 'yes' }, 'stopOnRepeatedError'],
      [[], 'policy'],
      [null, 'policy'],
    ] as const) {
      const { code, message } = refusal(() => withPolicy(policy));
      expect(code).toBe('invalid_option');
      expect(message).toContain(named);
    }
  });

  it('is rejected before any call if a fallback is not a model', () => {
    expect(refusal(() => withPolicy(fallbackModel(null as never))).code).toBe('invalid_option');
    expect(model.calls).toHaveLength(0);
  });
});
