import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonValue, splitAt } from '../../../support/json-text.ts';
import { finishPart, readAll, readArguments, readText, streamOf } from '../../../support/model-streams.ts';

const readListed = (...pieces: readonly string[]) => readAll(streamOf(pieces), { acceptsList: true });

describe('a list where an object is expected', () => {
  const lists = [
    '[{"a":1}]',
    '[1]',
    '[null]',
    '[true,false]',
    '[]',
    '[ "x" ]',
    '[[{"a":[{}]}], -1]',
    '[{}]',
    '[{"a":1},{"a":2}]',
  ];

  test.each(lists)('[A12] JSON in text: %s as the only value is returned whole and without partials', async (list) => {
    for (const pieces of [[list], [...list], ['```json\n', list, '\n```']]) {
      const { value, failure, partials } = await readText(...pieces);
      expect({ value, failure, partials }).toEqual({ value: JSON.parse(list), failure: null, partials: [] });
    }
  });

  test.each(lists)('[A12] JSON in text: yields to an object after %s, wherever the text is split', async (list) => {
    const text = `As in ${list}: {"answer":1} and [2].`;
    for (let at = 0; at <= text.length; at += 1)
      expect((await readText(text.slice(0, at), text.slice(at))).value).toEqual({ answer: 1 });
  });

  test.each([
    '[note]',
    '[see below]',
    '[link](url)',
    '[ ] todo',
    '[x]',
    '[[link]]',
    '[{name}]',
    '[{{name}}]',
    '[0, 1)',
  ])('[A12] JSON in text: is ignored as prose: %s', async (prose) => {
    for (const pieces of [[`${prose} {"a":1}`], [...`${prose} {"a":1}`]]) {
      const { value, partials } = await readText(...pieces);
      expect(value).toEqual({ a: 1 });
      expect(partials.at(-1)).toEqual({ a: 1 });
    }
  });
});

describe('a list where a list is accepted', () => {
  test('[A12] JSON in text: is the value immediately, with partials, like an object', async () => {
    const read = await readListed('Here: [', '{"n":1}', ',', '{"n":', '2}', '] as asked');
    expect(read).toMatchObject({ value: [{ n: 1 }, { n: 2 }], failure: null });
    expect(read.partials).toContainEqual([{ n: 1 }]);
    expect(read.partials.at(-1)).toEqual(read.value);
  });

  test('[A12] JSON in text: yields to a later object, or else to the last non-empty list', async () => {
    expect((await readListed('{"a":[1]} [2]')).value).toEqual({ a: [1] });
    for (const text of ['[2] {"a":[1]}', '- [ ] think\n{"a":[1]}', 'As in [1]:\n```json\n{"a":[1]}\n```'])
      for (const pieces of [[text], [...text]]) {
        const { value, partials } = await readListed(...pieces);
        expect(value, text).toEqual({ a: [1] });
        expect(partials.at(-1)).toEqual({ a: [1] });
      }
    for (const text of ['[]. Final: ["a"]', '["draft"] but ["a"]', '["a"] [ ]', '- [ ] x\n["a"]'])
      for (const pieces of [[text], [...text]]) {
        const { value, partials } = await readListed(...pieces);
        expect(value, text).toEqual(['a']);
        expect(partials.at(-1)).toEqual(['a']);
      }
    expect((await readListed('None: []')).value).toEqual([]);
  });

  test('[A12] JSON in text: is the value of a truncated reply if it is complete and non-empty', async () => {
    const cut = (text: string) => readAll(streamOf([text, finishPart('length')]), { acceptsList: true });
    expect(await cut('["a"] and')).toMatchObject({ value: ['a'], failure: null });
    expect(await cut('- [ ] think')).toMatchObject({ value: null, failure: { code: 'truncated' } });
    expect(await cut('["a"')).toMatchObject({ value: null, failure: { code: 'truncated' } });
    expect((await readListed('[note] [0, 1) {"a":[1]}')).value).toEqual({ a: [1] });
  });

  test('[A7] equals the result of JSON.parse and the last partial, wherever it is split', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(jsonValue(3)), fc.array(fc.nat(99)), async (items, cuts) => {
        const json = JSON.stringify(items);
        const { value, partials } = await readListed(...splitAt(json, cuts));
        expect(value).toStrictEqual(JSON.parse(json));
        expect(partials.at(-1)).toStrictEqual(value);
      }),
      { numRuns: 100 },
    );
  });
});

describe('nested brackets', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  test('may be 1,000 levels deep', async () => {
    expect((await readText(`{"a":${nested(999)}}`)).failure).toBeNull();
    expect((await readArguments(nested(1_000))).failure).toBeNull();
  });

  test.each<[string, string]>([
    ['more', `{"a":${nested(1_000)}}`],
    ['many more', `{"a":${nested(100_000)}}`],
    ['many more unclosed', '['.repeat(100_000)],
  ])('[A10] with %s levels are rejected as too deep in both forms', async (_, json) => {
    for (const read of [
      await readText(json),
      await readArguments(json),
      await readText(...(json.match(/.{1,9}/g) ?? [])),
    ]) {
      expect(read.value).toBeNull();
      expect(read.failure).toMatchObject({ stage: 'extraction', code: 'too_deep', retryable: true });
      expect(read.failure?.message).toMatch(/more than 1000 open brackets/);
    }
  });
});

const ANSWER = '{"answer":"yes","ids":["a","b"]}';
const VALUE = { answer: 'yes', ids: ['a', 'b'] };

describe('brackets in prose before the JSON', () => {
  const stray = fc.constantFrom(
    '{x} ',
    '[see below] ',
    '{ ',
    '[ ',
    '} ',
    '] ',
    '{{name}} ',
    '(a} ',
    '{"half"} ',
    '[1, ',
  );
  const before = fc.array(fc.tuple(fc.constantFrom('First ', 'so: ', 'e.g. '), stray), { maxLength: 6 });

  test('[A12] JSON in text: do not hide the value, wherever the text is split', async () => {
    await fc.assert(
      fc.asyncProperty(before, fc.array(fc.nat(200), { maxLength: 5 }), async (words, cuts) => {
        const text = `${words.flat().join('')}So:\n${ANSWER}\nThat is all.`;
        const read = await readText(...splitAt(text, cuts));
        expect(read.failure, text).toBeNull();
        expect(read.value, text).toEqual(VALUE);
      }),
    );
  });

  test('[A12] JSON in text: are not the reply if they are an empty object', async () => {
    expect((await readText(`Starting from {} we get ${ANSWER}`)).value).toEqual(VALUE);
  });
});

describe('an object that turns out to be invalid', () => {
  test('[A2] has partials up to that point, and the next object has its own', async () => {
    const { partials, value } = await readText('{"half":1,', 'oops} {"a":"x', 'y"}');
    expect(partials).toEqual([{ half: 1 }, { a: 'x' }, { a: 'xy' }]);
    expect(value).toEqual({ a: 'xy' });
  });

  test.each(['{"no" "\\"{" }', '{"no":"\\q\\"}"}', '{"no":"\\u12"}', '{"no":1]', '{"no":"a\nb}"}'])(
    '[A12] JSON in text: ends at its closing bracket, ignoring brackets in strings: %j',
    async (broken) => {
      for (const pieces of [[`${broken} ${ANSWER}`], [...`${broken} ${ANSWER}`]])
        expect((await readText(...pieces)).value).toEqual(VALUE);
    },
  );
});
