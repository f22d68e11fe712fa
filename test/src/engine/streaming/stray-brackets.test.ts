import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { ProseFinder } from '../../../../src/engine/streaming/text-driver.ts';
import { cutAt } from './json-text.ts';
import { readText } from './model-stream.ts';

const ANSWER = '{"answer":"yes","ids":["a","b"]}';
const VALUE = { answer: 'yes', ids: ['a', 'b'] };

describe('brackets in the prose before the JSON', () => {
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

  test('[A12] JSON in text: the value is found behind them, wherever the text is cut', async () => {
    await fc.assert(
      fc.asyncProperty(before, fc.array(fc.nat(200), { maxLength: 5 }), async (words, cuts) => {
        const text = `${words.flat().join('')}So:\n${ANSWER}\nThat is all.`;
        const read = await readText(...cutAt(text, cuts));
        expect(read.failure, text).toBeNull();
        expect(read.value, text).toEqual(VALUE);
      }),
    );
  });

  test('[A12] JSON in text: a fenced block is found behind brackets in the prose', async () => {
    const text = `Use {name} like {"so"} or [1]:\n\`\`\`json\n${ANSWER}\n\`\`\`\n`;
    expect((await readText(text)).value).toEqual(VALUE);
  });

  it.each([
    ['a footnote mark', `As said in [1]: ${ANSWER}`],
    ['an empty list', `Sources: [] ${ANSWER}`],
    ['an empty object', `Starting from {} we get ${ANSWER}`],
  ])('[A12] JSON in text: %s before the reply object is not the reply', async (_, text) => {
    expect((await readText(text)).value).toEqual(VALUE);
  });

  it('[A7] the last partial is the final value, also where the value stood behind stray brackets', async () => {
    const { partials, value } = await readText(`{so} ${ANSWER}`);
    expect(value).toEqual(VALUE);
    expect(partials.at(-1)).toEqual(VALUE);
  });
});

describe('an object that turns out to be none', () => {
  test('[A2] has partials until then, and the one behind it has its own', async () => {
    const { partials, value } = await readText('{"half":1,', 'oops} {"a":"x', 'y"}');
    expect(partials).toEqual([{ half: 1 }, { a: 'x' }, { a: 'xy' }]);
    expect(value).toEqual({ a: 'xy' });
  });

  test.each(['{"no" "\\"{" }', '{"no":"\\q\\"}"}', '{"no":"\\u12"}', '{"no":1]', '{"no":"a\nb}"}'])(
    '[A12] JSON in text: it ends where its brackets do, those in strings left out: %j',
    async (broken) => {
      for (const pieces of [[`${broken} ${ANSWER}`], [...`${broken} ${ANSWER}`]])
        expect((await readText(...pieces)).value).toEqual(VALUE);
    },
  );
});

describe('JSON that is broken is not mended by taking a part of it', () => {
  it.each([
    ['an object cut off in the middle', '{"a":{"b":1}', { stage: 'extraction' }],
    ['a list cut off in the middle', '{"items":[{"n":1},{"n":2}', { stage: 'extraction' }],
    ['an object with a trailing comma', '{"a":{"b":1},}', { stage: 'extraction' }],
    ['a wrong escape behind a list', '{"ids":["x"],"text":"\\x"}', { stage: 'extraction' }],
  ])('[A10] %s is a failure of extraction, not its inner value', async (_, text, wanted) => {
    const { value, failure } = await readText(text);
    expect(value).toBeNull();
    expect(failure).toMatchObject(wanted);
  });

  test('[A10] an object without inner brackets that is cut off is a failure of extraction', async () => {
    const { value, failure } = await readText('{"a":1,"b":"x');
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'no_json', retryable: true });
    expect(failure?.message).toMatch(/does not end/);
  });
});

describe('the place of a JSON value in text', () => {
  test('is found, and nothing but its text is handed out, in pieces as in one', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.array(fc.nat(99), { maxLength: 6 }), (inner, cuts) => {
        const json = `{"a":${inner}}`;
        const finder = new ProseFinder({ acceptsList: false });
        const views = cutAt(`so: ${json} ] } "tail`, cuts).map((piece) => finder.push(piece));
        expect(views.join('')).toBe(json);
        expect(finder.found).toEqual({ from: 4, to: 4 + json.length });
      }),
    );
  });

  test('is known as soon as its last bracket is there', () => {
    const finder = new ProseFinder({ acceptsList: false });
    const found = ['say', ' {"a":"}', '\\"', '"', '}', '{}'].map((piece) => {
      finder.push(piece);
      return [finder.found, finder.miss];
    });
    const span = { from: 4, to: 15 };
    expect(found).toEqual([
      [null, 'none'],
      [null, 'unfinished'],
      [null, 'unfinished'],
      [null, 'unfinished'],
      [span, 'none'],
      [span, 'none'],
    ]);
  });

  test('[A12] JSON in text: however many objects turn out to be none, the one behind them is found', async () => {
    expect((await readText(`${'{"no"} {no} {} [1] '.repeat(1_000)}${ANSWER}`)).value).toEqual(VALUE);
    expect((await readText('no brace at all')).failure).toMatchObject({ code: 'no_json' });
    expect((await readText('Nothing: {}')).value).toEqual({});
  });
});
