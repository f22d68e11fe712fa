import { describe, expect, test } from 'vitest';
import type { Failure } from '../../../../machines/contracts/failure.ts';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { anError } from '../../../support/errors.ts';
import {
  argumentsPart,
  finishPart,
  readAll,
  readText,
  reasoningPart,
  streamOf,
} from '../../../support/model-streams.ts';

const cut: Failure = failureOf('transport', 'stream_cut', 'The connection broke.', { retryAfterMs: 70, status: 502 });

describe('the end of a stream', () => {
  test.each([
    ['empty', ['']],
    ['whitespace', [' ', '\n']],
    ['nothing', []],
  ])('[A10] with %s is an empty reply and an extraction failure', async (_, pieces) => {
    const { value, failure, partials } = await readText(...pieces);
    expect({ value, partials }).toEqual({ value: null, partials: [] });
    expect(failure).toMatchObject({ stage: 'extraction', code: 'empty_reply', retryable: true });
  });

  test.each<[string, Parameters<typeof streamOf>[0], object]>([
    [
      '[A10] with only a call of a tool that was not offered names that tool',
      [argumentsPart('{}', { name: 'search' }), finishPart('tool-calls')],
      anError('empty_reply', 'tool “search”, which was not offered; expected one JSON object in its text.'),
    ],
    [
      '[A10] with prose but no JSON is an extraction failure that states what was expected',
      ['I would rather ', 'not.'],
      { stage: 'extraction', code: 'no_json', message: expect.stringContaining('expected one JSON object') },
    ],
    [
      '[A13] by a content filter is a permanent failure, even after a complete value',
      ['{"a":1}', finishPart('content-filter')],
      { code: 'filtered', retryable: false },
    ],
  ])('%s', async (_, parts, failure) => {
    expect(await readAll(streamOf(parts))).toMatchObject({ value: null, failure });
  });

  test('[A10] at the output limit is truncated, and incomplete content is not used as the value', async () => {
    const { partials, ...read } = await readAll(streamOf(['{"a":{"b":1},"c":"d', finishPart('length')]));
    const failure = { stage: 'extraction', code: 'truncated', retryable: true };
    expect(read).toMatchObject({ value: null, failure });
    expect(partials.at(-1)).toEqual({ a: { b: 1 }, c: 'd' });
  });

  test('at the output limit after a complete value returns the value', async () => {
    const { value, failure } = await readAll(streamOf(['{"a":1} and then I', finishPart('length')]));
    expect({ value, failure }).toEqual({ value: { a: 1 }, failure: null });
  });

  test.each<[string, readonly string[]]>([
    ['before any text', []],
    ['mid-value', ['{"a":', '1,"b":']],
    ['after the whole value', ['{"a":1}']],
    ['in prose', ['Well, ']],
  ])('[A10] with a failure part %s returns that failure', async (_, pieces) => {
    const { value, failure, text } = await readAll(streamOf([...pieces, { type: 'failure', failure: cut }]));
    expect(value).toBeNull();
    expect(failure).toEqual(cut);
    expect(text).toBe(pieces.join(''));
  });

  test('[A10] by an exception is an unexpected failure that is not retried', async () => {
    async function* throwing(): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text: '{"a":' };
      throw new Error('socket gone\nstack and all');
    }
    const { value, failure, text } = await readAll(throwing());
    expect({ value, text }).toEqual({ value: null, text: '{"a":' });
    expect(failure).toMatchObject({ stage: 'unexpected', message: 'socket gone', retryable: false });
  });

  test('without a final part is where the stream ends', async () => {
    async function* unfinished(text: string): AsyncGenerator<ModelPart, void> {
      yield { type: 'text-delta', text };
    }
    expect(await readAll(unfinished('{"a":1}'))).toMatchObject({ value: { a: 1 }, failure: null });
    expect(await readAll(unfinished('{"a":1'))).toMatchObject({ value: null, failure: { stage: 'extraction' } });
  });

  test('with trailing content after the value does not change the value: prose, another object, an unbalanced bracket', async () => {
    for (const tail of [' Hope that helps!', '{"b":2}', ' ]]}}', '\n```\n', '"']) {
      const { value, failure, text } = await readText('{"a":1}', tail);
      expect({ value, failure, text }).toEqual({ value: { a: 1 }, failure: null, text: `{"a":1}${tail}` });
    }
  });
});

describe('the usage of a stream', () => {
  test('[A11] is taken from the provider, or estimated as a quarter token per character and marked', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
    expect((await readAll(streamOf(['{}', { type: 'finish', reason: 'stop', usage }]))).usage).toEqual(usage);
    expect((await readAll(streamOf(['{"a":1} ']), { promptChars: 41 })).usage).toEqual({
      inputTokens: 11,
      outputTokens: 2,
      estimated: true,
    });
  });

  test('[A11] of a failed call is taken from the provider, or estimated if invalid', async () => {
    const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
    const failed = (told: unknown) =>
      readAll(streamOf(['{"a":', { type: 'failure', failure: cut, usage: told as never }]));
    expect(await failed(usage)).toMatchObject({ usage, failure: cut });
    for (const told of [null, undefined, 'much', { ...usage, outputTokens: -1 }])
      expect((await failed(told)).usage).toEqual({ inputTokens: 10, outputTokens: 2, estimated: true });
  });

  test('[A11] includes reasoning and other calls when it is estimated', async () => {
    const parts = [
      reasoningPart('x'.repeat(30)),
      argumentsPart('{"q":1}', { name: 'search' }),
      '{"a":1}',
      reasoningPart('y'),
    ];
    expect((await readAll(streamOf(parts))).usage).toEqual({ inputTokens: 10, outputTokens: 12, estimated: true });
  });

  test('ends with the stream when it is stopped, and nothing more is reported', async () => {
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
