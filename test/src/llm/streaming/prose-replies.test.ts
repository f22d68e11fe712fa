import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { createProseDriver } from '../../../../src/llm/streaming/prose-driver.ts';
import { TextWithoutThought } from '../../../../src/llm/streaming/thought.ts';
import { splitAt } from '../../../support/json-text.ts';
import { argumentsPart, finishPart, readAll, reasoningPart, streamOf } from '../../../support/model-streams.ts';

const read = (...parts: readonly (string | ModelPart)[]) =>
  readAll(streamOf(parts), { form: 'prose', proseDriver: createProseDriver() });

describe('a reply in prose', () => {
  test.each([
    ['text', ['Good ', 'morning.'], 'Good morning.'],
    ['JSON', ['{"text":"Good morning."}'], '{"text":"Good morning."}'],
    ['fenced JSON', ['```json\n[1]\n```'], '```json\n[1]\n```'],
    ['broken JSON', ['{"a":'], '{"a":'],
    ['text with space around it', ['\n Good\n', 'morning. \n'], 'Good\nmorning.'],
    ['text after reasoning', ['<think>A {"a":1}?</think>\n\nGood', ' morning.'], 'Good morning.'],
    ['text after reasoning of the provider', [reasoningPart('Hm.'), 'Good morning.'], 'Good morning.'],
    ['text before a call of a tool that was not offered', ['Good morning.', argumentsPart('{}')], 'Good morning.'],
    ['text whose end has no known reason', ['Good morning.', finishPart('other')], 'Good morning.'],
  ])('is the text of the model, verbatim: %s', async (_, parts, value) => {
    const reply = await read(...parts);
    expect(reply).toMatchObject({ value, text: value, prose: false, failure: null });
    expect(String(reply.partials.at(-1)).trim()).toBe(value);
  });

  test('shows the text so far, without reasoning', async () => {
    const { partials } = await read('<thi', 'nk>Hm', '</think>', '\n\nGood', ' mor', 'ning.');
    expect(partials).toEqual(['<thi', '', '', 'Good', 'Good mor', 'Good morning.']);
  });

  test.each([
    ['nothing', [], 'empty_reply', 'The reply is empty; expected text.'],
    ['only space', [' \n'], 'empty_reply', 'expected text'],
    ['only reasoning', ['<think>Hm.</think>'], 'empty_reply', 'The reply contains only reasoning'],
    ['only reasoning of the provider', [reasoningPart('{"a":1}')], 'empty_reply', 'expected text'],
    [
      'a call of a tool that was not offered',
      [argumentsPart('{}', { name: 'x' })],
      'empty_reply',
      'calls the tool “x”',
    ],
    [
      'a text that the output limit cut off',
      ['Good mor', finishPart('length')],
      'truncated',
      'expected a shorter text',
    ],
    ['a text that was filtered', ['Good', finishPart('content-filter')], 'filtered', 'content filter'],
    [
      'a broken connection',
      ['Good', { type: 'failure', failure: failureOf('transport', 'stream_cut', 'cut') }],
      'stream_cut',
      '',
    ],
  ] as const)('has failed without a whole text: %s', async (_, parts, code, message) => {
    const { failure, value } = await read(...parts);
    expect({ code: failure?.code, value }).toEqual({ code, value: null });
    expect(failure?.message).toContain(message);
  });
});

describe('a text without reasoning', () => {
  const plain = fc.stringMatching(/^[a-z <\n]{0,90}$/u);
  const hidden = fc.stringMatching(/^[a-z <\n]{0,200}$/u).map((text) => `<think>${text}</think>`);
  const places = fc.array(fc.nat(800), { maxLength: 20 });

  test('is what is outside of its marks, however it is split', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(plain, hidden), { maxLength: 6 }), plain, places, (pairs, last, cuts) => {
        const text = new TextWithoutThought();
        for (const piece of splitAt(pairs.flat().join('') + last, cuts)) text.add(piece);
        expect(text.text).toBe((pairs.map(([shown]) => shown).join('') + last).trimStart());
      }),
    );
  });

  test('of any marks is the same, however it is split', () => {
    const mark = fc.constantFrom('<think>', '</think>', '[THINK]', '[/THINK]', '<|channel|>analysis', 'assistantfinal');
    fc.assert(
      fc.property(fc.array(fc.oneof(plain, mark), { maxLength: 12 }), places, (parts, cuts) => {
        const whole = new TextWithoutThought();
        whole.add(parts.join(''));
        const split = new TextWithoutThought();
        for (const piece of splitAt(parts.join(''), cuts)) split.add(piece);
        expect(split.text).toBe(whole.text);
      }),
    );
  });
});
