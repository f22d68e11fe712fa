import { describe, expect, test } from 'vitest';
import { withOfferedTools } from '../../../../src/llm/streaming/offered-tools.ts';
import {
  argumentsPart,
  finishPart,
  readAll,
  readText,
  reasoningPart,
  streamOf,
} from '../../../support/model-streams.ts';

const thought = '<think>Maybe {"a":1}? Or [2], or </thin>king on.</think>';

/** The marks that end reasoning, with the one that begins it. */
const MARKS: readonly (readonly [string, string])[] = [
  ['<think>', '</think>'],
  ['<THINKING>', '</Thinking>'],
  ['<thought>', '</thought>'],
  ['<reasoning>', '</reasoning>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
  ['<|channel>thought', '<channel|>'],
  ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
  ['<|channel|>analysis<|message|>', '<|channel|>final <|constrain|>json<|message|>'],
  ['<|channel|>analysis<|message|>', 'assistantfinal'],
  ['<|START_THINKING|>', '<|END_THINKING|>'],
  ['<|begin_of_thought|>', '<|end_of_thought|>'],
];

/** Reads a text whole, in two pieces cut at any place, and character by character. */
async function readAnywhere(text: string, check: (read: Awaited<ReturnType<typeof readText>>, how: string) => void) {
  for (let at = 0; at <= text.length; at += 1) check(await readText(text.slice(0, at), text.slice(at)), `cut at ${at}`);
  check(await readText(...text), 'by characters');
}

describe('reasoning in the reply text', () => {
  test('[A12] JSON in text: is not searched for the value, wherever it is split', async () => {
    for (const text of [`${thought}{"a":2}`, `\n ${thought}\n\nSo: {"a":2}`, '<think></think>{"a":2}'])
      await readAnywhere(text, ({ value, partials }, how) => {
        expect(value, how).toEqual({ a: 2 });
        expect(partials).not.toContainEqual({ a: 1 });
      });
  });

  test('[A12] begins only at a complete mark, and after other text only if it also ends', async () => {
    for (const text of [
      '{"a":2} <think>{"a":1}</think>',
      'x <think>{"a":2}',
      '<thin>{"a":2}',
      '<{"a":2}',
      '< think>{"a":2}',
      'x <think>{"a":1}</think>{"a":2}',
      '{"a":1} <think>{"a":1}</think> {"a":2}',
      '{"a":2} <think>{"a":1}</think> [1]',
    ])
      for (const pieces of [[text], [...text]]) expect((await readText(...pieces)).value, text).toEqual({ a: 2 });
  });

  test.each(MARKS)(
    '[A12] is everything before the end mark of %s… %s, with or without the first mark',
    async (begin, end) => {
      const drafts = [
        'Could be {"a":1}? No.\n',
        '{"a":1}',
        '{"a":1, oops',
        '[1] {"a": [1',
        '{"a":"1\n',
        'Say {"a":"x',
        '',
        'no JSON',
      ];
      for (const draft of drafts)
        for (const start of ['', begin, `x ${begin}`]) {
          const text = `${start}${draft}${end}\n{"a":2}`;
          for (const pieces of [[text], [...text], [text.slice(0, -12), text.slice(-12)]])
            expect((await readText(...pieces)).value, text).toEqual({ a: 2 });
        }
      const twice = `${begin}{"a":1}${end} Wait: {"a":3}${end}{"a":2}`;
      await readAnywhere(twice, ({ value, partials }, how) => {
        expect(value, how).toEqual({ a: 2 });
        expect(partials.at(-1), how).toEqual({ a: 2 });
      });
    },
  );

  test('[A12] neither begins nor ends at a mark inside a string of the value, whole or cut off', async () => {
    for (const value of [
      { a: 'write </think>' },
      { a: '</think> <think>', b: { a: 1 } },
      { a: ['[/THINK]', { a: 1 }] },
    ]) {
      const json = JSON.stringify(value);
      await readAnywhere(`<think>{"a":0}</think>${json} Done.`, (read, how) => expect(read.value, how).toEqual(value));
      await readAnywhere(json.slice(0, -1), (read, how) => expect(read.value, how).toBeNull());
      await readAnywhere(json.replace(/.$/u, ',oops}'), (read, how) => expect(read.value, how).toBeNull());
    }
  });

  test('[A10] without a reply after it leaves no value', async () => {
    for (const text of ['<think>{"a":1}', '{"a":1}</think>', 'So {"a":1}.\n</think> \n', '[1]</think>'])
      await readAnywhere(text, (read, how) =>
        expect(read, how).toMatchObject({
          value: null,
          failure: { code: 'no_json', message: expect.stringContaining('only reasoning') },
        }),
      );
    expect(await readAll(streamOf(['<think>{"a":1}', finishPart('length')]))).toMatchObject({
      failure: { code: 'truncated' },
    });
  });

  test('is also skipped before a list, prose and tool calls', async () => {
    const list = await readAll(streamOf(['[{"a":1}] or', ' so</thi', 'nk>[{"a":2},', '{"a":3}]']), {
      acceptsList: true,
    });
    expect(list.value).toEqual([{ a: 2 }, { a: 3 }]);
    const fromProse = (text: string) => ({ text });
    const prose = await readAll(streamOf(['Is it {no}? Draft.', '</think>', 'It is <think>sure</think>so.']), {
      fromProse,
    });
    expect(prose.value).toEqual({ text: 'It is so.' });
    const offered = { wrap: withOfferedTools, names: new Set(['t']), valueOf: (_: unknown, before: string) => before };
    const called = await readAll(streamOf(['Draft.</think>Now.', argumentsPart('{}', { name: 't' })]), { offered });
    expect(called.value).toBe('Now.');
  });
});

describe('a reply that a server reports as reasoning', () => {
  const json = '{"a":2}';

  test.each([
    [
      'is used if it is one JSON object and nothing else came',
      [reasoningPart('\n{"a"'), reasoningPart(':2}\n')],
      { a: 2 },
    ],
    ['is not used with other text', [reasoningPart(`So ${json}`)], null],
    ['is not used if it does not end', [reasoningPart('{"a":')], null],
    ['is not used if it is not an object', [reasoningPart('[1]')], null],
    ['is not used beside a reply', [reasoningPart('{"a":1}'), json], { a: 2 }],
    ['is not used beside a reply that is invalid', [reasoningPart(json), 'No.'], null],
    ['is not used if it was cut off', [reasoningPart(json), finishPart('length')], null],
  ])('%s', async (_, parts, value) => {
    expect((await readAll(streamOf(parts))).value).toEqual(value);
  });

  test('keeps its text, and is refused for a tool call', async () => {
    expect(await readAll(streamOf([reasoningPart(json)]))).toMatchObject({ text: json, partials: [{ a: 2 }] });
    expect((await readAll(streamOf([reasoningPart(json)]), { form: 'tool-call' })).failure?.code).toBe('no_tool_call');
  });
});
