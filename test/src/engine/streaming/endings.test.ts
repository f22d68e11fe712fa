import { describe, expect, it, test } from 'vitest';
import type { Failure } from '../../../../machines/contracts/failure.ts';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { argumentsOf, finish, readAll, readText, reasoning, stream } from './model-stream.ts';

const cut: Failure = failureOf('transport', 'stream_cut', 'The connection broke.', { retryAfterMs: 70, status: 502 });

describe('how a stream ends', () => {
  test.each([
    ['empty', ['']],
    ['white space', [' ', '\n']],
    ['nothing', []],
  ])('[A10] %s is an empty reply: extraction', async (_, pieces) => {
    const { value, failure, partials } = await readText(...pieces);
    expect({ value, partials }).toEqual({ value: null, partials: [] });
    expect(failure).toMatchObject({ stage: 'extraction', code: 'empty_reply', retryable: true });
  });

  test('[A10] prose without JSON is a failure of extraction that says what was wanted', async () => {
    const { value, failure } = await readText('I would rather ', 'not.');
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'no_json' });
    expect(failure?.message).toMatch(/expected one JSON object/);
  });

  test('[A10] a reply cut off at the output limit is truncated, and what it holds is not taken for a value', async () => {
    const { value, failure, partials } = await readAll(stream(['{"a":{"b":1},"c":"d', finish('length')]));
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'truncated', retryable: true });
    expect(partials.at(-1)).toEqual({ a: { b: 1 }, c: 'd' });
  });

  test('a value that was whole before the output limit is the value', async () => {
    const { value, failure } = await readAll(stream(['{"a":1} and then I', finish('length')]));
    expect({ value, failure }).toEqual({ value: { a: 1 }, failure: null });
  });

  test('[A13] a reply stopped by a content filter is refused for good, however whole it looks', async () => {
    const { value, failure } = await readAll(stream(['{"a":1}', finish('content-filter')]));
    expect(value).toBeNull();
    expect(failure).toMatchObject({ code: 'filtered', retryable: false });
  });

  test.each<[string, readonly string[]]>([
    ['before any text', []],
    ['in mid-value', ['{"a":', '1,"b":']],
    ['after the whole value', ['{"a":1}']],
    ['in prose', ['Well, ']],
  ])('[A10] a failure part %s is the reply’s failure, as the model gave it', async (_, pieces) => {
    const { value, failure, text } = await readAll(stream([...pieces, { type: 'failure', failure: cut }]));
    expect(value).toBeNull();
    expect(failure).toEqual(cut);
    expect(text).toBe(pieces.join(''));
  });

  test('[A10] a stream that throws breaks its contract: an unexpected failure, told and not tried again', async () => {
    async function* throwing(): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text: '{"a":' };
      throw new Error('socket gone\nstack and all');
    }
    const { value, failure, text } = await readAll(throwing());
    expect({ value, text }).toEqual({ value: null, text: '{"a":' });
    expect(failure).toMatchObject({ stage: 'unexpected', message: 'socket gone', retryable: false });
  });

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['a string', 'no'],
    ['a symbol', Symbol('no')],
  ])('a stream that throws %s does not reject', async (_, thrown) => {
    const parts = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }) };
    expect((await readAll(parts)).failure).toMatchObject({ stage: 'unexpected' });
  });

  it.each<[string, () => AsyncIterator<ModelPart>]>([
    [
      'cannot be opened',
      () => {
        throw new Error('no iterator');
      },
    ],
    [
      'throws as it is closed',
      () => ({ next: async () => ({ done: true, value: undefined }), return: () => Promise.reject(new Error('late')) }),
    ],
  ])('a stream that %s does not reject either', async (_, open) => {
    await expect(readAll({ [Symbol.asyncIterator]: open })).resolves.toMatchObject({ value: null });
  });

  test('a stream without a last part ends where it ends', async () => {
    async function* unfinished(text: string): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text };
    }
    expect(await readAll(unfinished('{"a":1}'))).toMatchObject({ value: { a: 1 }, failure: null });
    expect(await readAll(unfinished('{"a":1'))).toMatchObject({ value: null, failure: { stage: 'extraction' } });
  });

  test('what comes after the value is text and no value: prose, another object, an unbalanced bracket', async () => {
    for (const tail of [' Hope that helps!', '{"b":2}', ' ]]}}', '\n```\n', '"']) {
      const { value, failure, text } = await readText('{"a":1}', tail);
      expect({ value, failure, text }).toEqual({ value: { a: 1 }, failure: null, text: `{"a":1}${tail}` });
    }
  });
});

describe('what a stream costs', () => {
  test('[A11] the provider’s usage is taken; where there is none, a quarter token a character is counted, and marked', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
    expect((await readAll(stream(['{}', { type: 'finish', reason: 'stop', usage }]))).usage).toEqual(usage);
    expect((await readAll(stream(['{"a":1} ']), { promptChars: 41 })).usage).toEqual({
      inputTokens: 11,
      outputTokens: 2,
      estimated: true,
    });
  });

  test('[A11] a failed stream costs too', async () => {
    const { usage } = await readAll(stream(['{"a":', { type: 'failure', failure: cut }]), { promptChars: 4 });
    expect(usage).toEqual({ inputTokens: 1, outputTokens: 2, estimated: true });
  });

  test('[A11] what a failed call cost is taken where the provider told it, and estimated where that is no usage', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
    const failed = (told: unknown) =>
      readAll(stream(['{"a":', { type: 'failure', failure: cut, usage: told as never }]));
    expect(await failed(usage)).toMatchObject({ usage, failure: cut });
    for (const told of [null, undefined, 'much', { ...usage, outputTokens: -1 }])
      expect((await failed(told)).usage).toEqual({ inputTokens: 10, outputTokens: 2, estimated: true });
  });

  test('[A11] reasoning and other calls are output too, where that is estimated', async () => {
    const parts = [reasoning('x'.repeat(30)), argumentsOf('{"q":1}', { name: 'search' }), '{"a":1}', reasoning('y')];
    expect((await readAll(stream(parts))).usage).toEqual({ inputTokens: 10, outputTokens: 12, estimated: true });
  });

  test('a stream that is stopped ends at once, and nothing of it is told any more', async () => {
    let stop = (): void => {};
    const silent = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
    const reading = readAll(silent, {
      onStoppable: (given) => {
        stop = given;
      },
    });
    stop();
    expect(await reading).toMatchObject({ value: null, text: '', told: [], failure: { stage: 'extraction' } });
  });
});
