import { describe, expect, test } from 'vitest';
import { finishPart, readAll, readText, streamOf } from '../../../support/model-streams.ts';

const thought = '<think>Maybe {"a":1}? Or [2], or </thin>king on.</think>';

describe('reasoning in the reply text', () => {
  test('[A12] JSON in text: is not searched for the value, wherever it is split', async () => {
    for (const text of [`${thought}{"a":2}`, `\n ${thought}\n\nSo: {"a":2}`, '<think></think>{"a":2}']) {
      for (let at = 0; at <= text.length; at += 1) {
        const { value, partials } = await readText(text.slice(0, at), text.slice(at));
        expect(value, `cut at ${at}`).toEqual({ a: 2 });
        expect(partials).not.toContainEqual({ a: 1 });
      }
      expect((await readText(...text)).value).toEqual({ a: 2 });
    }
  });

  test('[A12] is recognized only at the start and only as a complete tag', async () => {
    for (const text of [
      '{"a":2} <think>{"a":1}</think>',
      'x <think>{"a":2}',
      '<thin>{"a":2}',
      '<{"a":2}',
      '< think>{"a":2}',
    ])
      for (const pieces of [[text], [...text]]) expect((await readText(...pieces)).value, text).toEqual({ a: 2 });
  });

  test('[A10] without an end leaves no value', async () => {
    expect(await readText('<think>{"a":1}')).toMatchObject({ value: null, failure: { code: 'no_json' } });
    expect(await readAll(streamOf(['<think>{"a":1}', finishPart('length')]))).toMatchObject({
      failure: { code: 'truncated' },
    });
  });
});
