import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wellFormed } from '../../../../machines/text/safe-json.ts';
import { hasLongNumber, spacedJson, splitAt, wrappedJson } from '../../../support/json-text.ts';
import { readAll, readArguments, readText, streamOf } from '../../../support/model-streams.ts';
import { sampleSize } from '../../../support/soak.ts';

const places = fc.array(fc.nat(2_000), { maxLength: 12 });

describe('a JSON value read from a stream', () => {
  test('[A2] [A12] JSON in text: equals JSON.parse for any surrounding text and splits, and only grows', async () => {
    await fc.assert(
      fc.asyncProperty(wrappedJson, places, async ({ text, value }, cuts) => {
        const pieces = splitAt(text, cuts);
        const { partials, ...read } = await readText(...pieces);
        expect([read.failure, read.value, read.text]).toEqual([null, value, text]);
        expect(read.texts.join('')).toBe(text);
        for (const [index, partial] of partials.entries()) {
          expect(isPrefix(partial, value)).toBe(true);
          expect(isPrefix(partials[Math.max(0, index - 1)], partial)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('a text with surrogate pairs', () => {
  test.each([
    ['as they are', JSON.stringify({ '😀': ['a𝕏😀', '😀b'] })],
    ['as escape sequences', '{"\\ud83d\\ude00":["a\\ud835\\udd4f\\uD83D\\uDE00","\\\\ud83d\\ud83d\\ude00b"]}'],
  ])('shows no half of one, wherever the chunks are split: %s', async (_, json) => {
    const everySplit = Array.from(json.split(''), (__, at) => [json.slice(0, at), json.slice(at)]);
    for (const pieces of [json.split(''), ...everySplit]) {
      const { texts, partials, value } = await readText(...pieces);
      expect(value).toEqual(JSON.parse(json));
      expect(texts.join('')).toBe(json);
      expect(wellFormed([texts, partials])).toEqual([texts, partials]);
    }
  });

  test('a half that the model never completes is kept, and a half at the size limit is not', async () => {
    const half = '{"a":"\ud83d"}';
    expect(await readText(...half.split(''))).toMatchObject({ text: half, value: { a: '\ud83d' } });
    const { text } = await readAll(streamOf(['{"a":"😀']), { maxChars: 7 });
    expect(text).toBe('{"a":"');
  });
});

describe('edge-case values', () => {
  const edges: readonly string[] = [
    '{}',
    '{"a":1,"a":2}',
    '{"a":{"x":1},"a":"text"}',
    '{"__proto__":{"polluted":true}}',
    '{"a":{"__proto__":1,"constructor":2,"toString":3}}',
    '{"s":["\\ud800","\\udc00","\\ud83d\\ude00","\ud83d\ude00","\\u0000","\\b\\f\\n\\r\\t\\/\\\\\\""]}',
    '{"n":[0,-0,1e308,-1e308,1e-320,5e-324,1E+2,9007199254740991,0.1,1.23456789012345e25]}',
    '{"":{"":[]}}',
    '{"a":[[],{},[[]],[{}],""]}',
    '{"a":[true,false,null]}',
    '{"10":1,"2":2,"b":3,"a":4}',
    '{"deep":[[[[[[[[[[{"x":[1]}]]]]]]]]]]}',
  ];

  test.each(edges)('[A12] JSON in text: %s equals the result of JSON.parse, whole and in chunks', async (json) => {
    const value = JSON.parse(json) as object;
    for (const pieces of [[json], [...json]]) {
      const read = await readText(...pieces);
      expect(read.failure).toBeNull();
      expect(read.value).toStrictEqual(value);
      expect(JSON.stringify(read.value)).toBe(JSON.stringify(value));
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each([
    ['a trailing comma', '{"a":1,}'],
    ['a raw line break in a string', '{"a":"x\ny"}'],
    ['single quotes', "{'a':1}"],
    ['a leading zero', '{"a":01}'],
    ['a bare word', '{"a":NaN}'],
    ['a missing comma', '{"a":1 "b":2}'],
    ['a mismatched bracket', '{"a":[1}'],
    ['an unknown escape', '{"a":"\\x41"}'],
    ['a comment', '{"a":1 /* one */}'],
    ['an object cut off after a whole one', '{"a":{"b":1}'],
    ['a list cut off after whole items', '{"items":[{"n":1},{"n":2}'],
    ['an invalid escape after a list', '{"ids":["x"],"text":"\\x"}'],
  ])('[A10] %s, which JSON.parse rejects, is an extraction failure, whole and in chunks', async (_, text) => {
    expect(() => JSON.parse(text)).toThrow();
    for (const pieces of [[text], [...text]]) {
      const { value, failure } = await readText(...pieces);
      expect({ value, stage: failure?.stage, retryable: failure?.retryable }).toEqual({
        value: null,
        stage: 'extraction',
        retryable: true,
      });
    }
  });
});

/** Whether a value may be what has arrived so far of another: strings and lists grow at their end, objects by members. */
function isPrefix(part: unknown, whole: unknown): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part);
  if (Array.isArray(part))
    return Array.isArray(whole) && part.length <= whole.length && part.every((one, i) => isPrefix(one, whole[i]));
  if (typeof part !== 'object' || part === null) return Object.is(part, whole);
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole)) return false;
  const members = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(([key, one]) => members.has(key) && isPrefix(one, members.get(key)));
}

/** JSON tokens and near misses. */
const scraps = fc.oneof(
  fc.constantFrom(...'{}[]:,"\\-+.eE019tfnu/ \n\r\t\u0000\u00a0\ufeff\u2028x'),
  fc.constantFrom('\\u12', '\\u00G0', 'true', 'nul', '1e', '-', '01', '1.', '.5', '//', '""', '{}', '[]', "'"),
  fc.string({ maxLength: 3 }),
);

/** JSON with some characters removed, inserted, moved, or duplicated. */
const mutated = fc
  .tuple(spacedJson, fc.array(fc.tuple(fc.nat(500), fc.nat(3), scraps), { minLength: 1, maxLength: 3 }))
  .map(([json, changes]) =>
    changes.reduce((text, [place, length, scrap]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + scrap + text.slice(at + length);
    }, json),
  );

/** Whether JSON.parse accepts a text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('detecting whether a whole text is JSON', () => {
  test('[A10] [A12] tool-call arguments: returns the result of JSON.parse or no value, wherever they are split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(spacedJson, mutated), places, async (text, cuts) => {
        const { value, failure, partials } = await readArguments(...splitAt(text, cuts));
        const known = isJson(text) ? (JSON.parse(text) as unknown) : null;
        fc.pre(!hasLongNumber(known));
        expect({ value, stage: failure?.stage }).toStrictEqual({
          value: known,
          stage: isJson(text) ? undefined : 'extraction',
        });
        if (failure === null) expect(partials.at(-1)).toStrictEqual(value);
      }),
      { numRuns: sampleSize('mutated JSON texts', 1_000, 50_000) },
    );
  });
});
