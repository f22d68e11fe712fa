import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ProseFinder } from '../../../../src/llm/streaming/stream-driver.ts';
import { jsonValue, splitAt } from '../../../support/json-text.ts';
import { readText } from '../../../support/model-streams.ts';

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

  it.each([
    ['a footnote mark', `As said in [1]: ${ANSWER}`],
    ['an empty list', `Sources: [] ${ANSWER}`],
    ['an empty object', `Starting from {} we get ${ANSWER}`],
  ])('[A12] JSON in text: are not the reply: %s before the object', async (_, text) => {
    expect((await readText(text)).value).toEqual(VALUE);
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

describe('broken JSON is not repaired from its parts', () => {
  it.each([
    ['an object cut off in the middle', '{"a":{"b":1}', { stage: 'extraction' }],
    ['a list cut off in the middle', '{"items":[{"n":1},{"n":2}', { stage: 'extraction' }],
    ['an object with a trailing comma', '{"a":{"b":1},}', { stage: 'extraction' }],
    ['an invalid escape after a list', '{"ids":["x"],"text":"\\x"}', { stage: 'extraction' }],
  ])('[A10] %s is an extraction failure instead of its inner value', async (_, text, wanted) => {
    const { value, failure } = await readText(text);
    expect(value).toBeNull();
    expect(failure).toMatchObject(wanted);
  });
});

describe('locating a JSON value in text', () => {
  test('passes on only its text, in chunks as in one piece', () => {
    fc.assert(
      fc.property(
        jsonValue(3).map((value) => JSON.stringify(value)),
        fc.array(fc.nat(99), { maxLength: 6 }),
        (inner, cuts) => {
          const json = `{"a":${inner}}`;
          const finder = new ProseFinder({ acceptsList: false });
          const views = splitAt(`so: ${json} ] } "tail`, cuts).map((piece) => finder.push(piece));
          expect(views.join('')).toBe(json);
          expect(finder.found).toEqual({ from: 4, to: 4 + json.length });
        },
      ),
    );
  });
});
