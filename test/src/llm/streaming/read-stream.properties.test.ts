import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitAt, wrappedJson } from '../../../support/json-text.ts';
import { readAll, readText, streamOf } from '../../../support/model-streams.ts';

const places = fc.array(fc.nat(2_000), { maxLength: 12 });

describe('a JSON value read from a stream', () => {
  test('[A12] JSON in text: equals the result of JSON.parse for any surrounding text and any splits', async () => {
    await fc.assert(
      fc.asyncProperty(wrappedJson, places, async ({ text, value }, cuts) => {
        const read = await readText(...splitAt(text, cuts));
        expect(read.failure).toBeNull();
        expect(read.value).toEqual(value);
        expect(read.text).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test('[A2] grows monotonically: every partial is a prefix of the final value', async () => {
    await fc.assert(
      fc.asyncProperty(wrappedJson, places, async ({ text }, cuts) => {
        const { partials, value } = await readText(...splitAt(text, cuts));
        for (const [index, partial] of partials.entries()) {
          expect(isPrefix(partial, value)).toBe(true);
          expect(isPrefix(partials[Math.max(0, index - 1)], partial)).toBe(true);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('[A12] delivers each list item as soon as it is complete', async () => {
    const { partials } = await readText('{"items":[', '{"n":1}', ',', '{"n":2}', ']}');
    expect(partials).toContainEqual({ items: [{ n: 1 }] });
    expect(partials.at(-1)).toEqual({ items: [{ n: 1 }, { n: 2 }] });
  });

  test('[A2] is accompanied by the text, chunk by chunk and in order', async () => {
    await fc.assert(
      fc.asyncProperty(wrappedJson, places, async ({ text }, cuts) => {
        const pieces = splitAt(text, cuts);
        expect((await readAll(streamOf(pieces))).texts).toEqual(pieces.filter((piece) => piece !== ''));
      }),
      { numRuns: 50 },
    );
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
