import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import { createAttempt } from '../../../../src/llm/attempts/create-attempt.ts';
import {
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  retryPolicy,
} from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { chatServer, event } from '../../../support/chat-server.ts';
import { chunkedReply, partModel, textPart } from '../../../support/scripted-models.ts';

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
    let error: unknown;
    try {
      createStructuredOutput(options as never);
    } catch (met) {
      error = met;
    }
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect((error as Error).message).not.toContain('\n');
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
  it.each(['[{"a":1}]', '[1,2]', '[]', 'Here: [{"a":1}] as asked.'])(
    '[A10] with a list instead of an object (%s) matches no schema, and its items are not used as the value',
    async (reply) => {
      const error = await exhausted(
        createStructuredOutput({ ...good, model: partModel(chunkedReply(reply)), policy: once }).value,
      );
      expect(error.failure).toMatchObject({ stage: 'schema', issues: [{ path: '' }] });
    },
  );

  it.each(['{"a":1', '{"a":1}}'.slice(0, 5), '"a"', '42', 'null', 'a: 1', '{a:1}', "{'a':1}"])(
    '[A10] of %s is not a JSON object and fails extraction',
    async (reply) => {
      const error = await exhausted(
        createStructuredOutput({ ...good, model: partModel(chunkedReply(reply)), policy: once }).value,
      );
      expect(error.failure.stage).toBe('extraction');
    },
  );

  it('[A10] without an end is stopped at the size limit (200 MB)', async () => {
    const chunk = 'x'.repeat(64_000);
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

  it('[A10] over HTTP is stopped at the size limit by closing the connection', async () => {
    let written = 0;
    const content = 'x'.repeat(16_000);
    const server = await chatServer(async ({ response }) => {
      const closed = happens(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (!response.destroyed && written < 200_000_000) {
        written += content.length;
        const isTaken = response.write(event({ choices: [{ index: 0, delta: { content } }] }));
        if (!isTaken) await Promise.race([happens(response, 'drain'), closed]);
      }
      response.end();
    });
    const model = openaiModel({ model: 'm', baseURL: server.baseURL });
    const limits = { maxReplyChars: 100_000 };
    const error = await exhausted(createStructuredOutput({ ...good, model, limits, policy: once }).value);
    expect(error.failure.code).toBe('too_long');
    await server.allClosed();
    expect(written).toBeLessThan(20_000_000);
  });
});

const happens = (emitter: NodeJS.EventEmitter, name: string): Promise<void> =>
  new Promise((resolve) => emitter.once(name, () => resolve()));
