import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import { createAttempt } from '../../../../src/llm/attempts/create-attempt.ts';
import {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
  withErrorFeedback,
} from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { errorOf } from '../../../support/errors.ts';
import { chunkedReply, partModel, textPart } from '../../../support/scripted-models.ts';
import { namedModel, validCall } from '../../../support/structured-outputs.ts';

const Answer = z.object({ a: z.int() });
const good = { model: partModel(chunkedReply({ a: 1 })), schema: Answer, prompt: 'How many?' };
const once = retryPolicy(maxCorrections(0), maxTransportRetries(0));

async function exhausted(value: Promise<unknown>): Promise<AttemptsExhausted> {
  const error = await value.catch((met: unknown) => met);
  if (error instanceof AttemptsExhausted) return error;
  throw new Error(`expected AttemptsExhausted, got ${JSON.stringify(error)}`);
}

describe('invalid options', () => {
  it.each([
    ['no model', { ...good, model: undefined }, 'invalid_option', /model: expected a model.*; received undefined/],
    [
      'no schema',
      { ...good, schema: undefined },
      'invalid_schema',
      /schema: expected a Standard Schema.*; received undefined/,
    ],
    ['a schema without a JSON form', { ...good, schema: v.object({ a: v.number() }) }, 'invalid_schema', /valibot/],
    [
      'no prompt',
      { ...good, prompt: undefined },
      'invalid_option',
      /prompt: expected a non-blank string.*; received undefined/,
    ],
    ['a blank prompt', { ...good, prompt: ' \n' }, 'invalid_option', /prompt/],
    ['no turns', { ...good, prompt: [] }, 'invalid_option', /prompt: .*; received an array of 0/],
    ['a turn without a role', { ...good, prompt: [{ role: 'robot', content: 'x' }] }, 'invalid_option', /prompt/],
    [
      'two system turns',
      { ...good, system: 'Be brief.', prompt: [{ role: 'system', content: 'x' }] },
      'invalid_option',
      /system: expected one system turn; received one in the prompt too/,
    ],
    ['an unknown reply form', { ...good, replyForm: 'xml' }, 'invalid_option', /replyForm: .*; received "xml"/],
    [
      'a misspelled option',
      { ...good, shema: Answer },
      'invalid_option',
      /^shema: unknown option; expected one of model, schema, .*prompt, signal\.$/,
    ],
    [
      'a policy option passed as a limit',
      { ...good, limits: { maxCorrections: 1 } },
      'invalid_option',
      /^limits.maxCorrections: unknown option; expected one of .*totalMs/,
    ],
    ['a model without a prompt limit', { ...good, model: { stream() {} } }, 'invalid_option', /contextWindowTokens/],
    ['an invalid signal', { ...good, signal: {} }, 'invalid_option', /signal/],
  ])('reject %s with a one-line error before any call', (_, options, code, message) => {
    const error = errorOf(() => createStructuredOutput(options as never));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.message).not.toContain('\n');
    expect(good.model.calls).toHaveLength(0);
  });

  it('are also rejected by createAttempt, the prompt when it is passed', () => {
    expect(() => createAttempt({ model: good.model, schema: v.object({}) })).toThrow(/valibot/);
    const { input } = createAttempt({ model: good.model, schema: Answer });
    expect(() => input('')).toThrow(/prompt/);
    expect(input('How?')).toMatchObject({ task: 'output', input: [{ role: 'user', content: 'How?' }] });
  });
});

describe('a prompt over the limit of the model', () => {
  const small = { ...partModel(chunkedReply({ a: 1 })), contextWindowTokens: 200 };
  const prompt = 'x'.repeat(2_000);

  it('is not sent, and the failure reports its size', async () => {
    const error = await exhausted(createStructuredOutput({ model: small, schema: Answer, prompt }).value);
    expect(small.calls).toHaveLength(0);
    expect(error.failure).toMatchObject({ code: 'prompt_too_long', stage: 'transport', retryable: false });
    expect(error.failure.message).toMatch(/about 5\d\d tokens .*accepts 200/);
    expect(error.attempts).toHaveLength(1);
  });

  it('is sent to a fallback model with a larger limit', async () => {
    const large = partModel(chunkedReply({ a: 2 }));
    const policy = retryPolicy(fallbackModel(large));
    const output = createStructuredOutput({ model: small, schema: Answer, prompt, policy });
    expect(await output.value).toEqual({ a: 2 });
    expect(output.execution.attempts.map(({ model }) => model)).toEqual([0, 1]);
  });
});

describe('an unusable reply', () => {
  it.each(['[{"a":1},{"a":2}]', '[1,2]', '[]', 'Here: [{"a":1},{"a":2}] as asked.'])(
    '[A10] with a list instead of an object (%s) matches no schema, and its items are not used as the value',
    async (reply) => {
      const error = await exhausted(
        createStructuredOutput({ ...good, model: partModel(chunkedReply(reply)), policy: once }).value,
      );
      expect(error.failure).toMatchObject({ stage: 'schema', issues: [{ path: '' }] });
    },
  );

  it('[A10] without an end is stopped at the size limit (200 MB)', async () => {
    const chunk = Array.from({ length: 8_000 }, (_, at) => String(at).padStart(8)).join('');
    for (const part of [textPart(chunk), { type: 'reasoning-delta', text: chunk } satisfies ModelPart]) {
      let given = 0;
      const endless = {
        id: 'endless',
        contextWindowTokens: 1_000,
        async *stream(): AsyncGenerator<ModelPart> {
          yield textPart('{"a":"');
          for (; given < 200_000_000; given += chunk.length) yield part;
        },
      };
      const error = await exhausted(createStructuredOutput({ ...good, model: endless, policy: once }).value);
      expect(error.failure).toMatchObject({ stage: 'extraction', code: 'too_long' });
      expect(given).toBeLessThan(2_200_000);
      expect(error.attempts[0]?.text.length).toBeLessThanOrEqual(2_000_000);
    }
  });
});

const model = namedModel('a', validCall);

const withPolicy = (policy: unknown) =>
  createStructuredOutput({ model, schema: Answer, prompt: 'Is it so?', policy: policy as RetryPolicy });
const withLimits = (limits: object) => createStructuredOutput({ model, schema: Answer, prompt: 'Is it so?', limits });

const bad = [-1, Number.NaN, Number.POSITIVE_INFINITY];

describe('out-of-range numbers', () => {
  const made: readonly [named: string, make: (n: number) => unknown, alsoBad: readonly number[]][] = [
    ['maxCorrections', maxCorrections, [1.5]],
    ['maxTransportRetries', maxTransportRetries, [0.1]],
    ['baseMs', (baseMs) => exponentialBackoff({ baseMs }), []],
    ['maxMs', (maxMs) => exponentialBackoff({ maxMs }), []],
    ['jitter', (jitter) => exponentialBackoff({ jitter }), [1.01]],
    ['maxChars', (maxChars) => withErrorFeedback({ maxChars }), [2.5]],
    ['after', (after) => fallbackModel(model, { after }), [0, 1.5]],
  ];

  for (const [named, make, more] of made)
    it(`[A4] are rejected where the policy is created, by their option name: ${named}`, () => {
      for (const n of [...bad, ...more]) {
        const { code, message } = errorOf(() => make(n));
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
        const { code, message } = errorOf(() => withLimits({ [field]: n }));
        expect(code).toBe('invalid_option');
        expect(message.startsWith(`limits.${field}: `)).toBe(true);
        expect(message.endsWith(`; received ${n}.`)).toBe(true);
        expect(message).toContain('expected');
      }
    for (const field of ['maxReplyChars', 'maxCalls'])
      expect(errorOf(() => withLimits({ [field]: 1.5 })).message).toMatch(
        new RegExp(`^limits.${field}: .*; received 1.5.$`),
      );
  });
});

it('an invalid policy is rejected with the name of the invalid part', () => {
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
    const { code, message } = errorOf(() => withPolicy(policy));
    expect(code).toBe('invalid_option');
    expect(message).toContain(named);
  }
});
