import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelPart, ReplyForm } from '../../../../machines/contracts/model.ts';
import { splitAt } from '../../../support/json-text.ts';
import { argumentsPart, finishPart, readAll, reasoningPart, streamOf, TOOL } from '../../../support/model-streams.ts';

const FORMS: readonly ReplyForm[] = ['text', 'tool-call'];
const NAMES = ['search', 'clock'];

/** Reads the parts with two tools offered in addition to the reply. */
const read = (form: ReplyForm, parts: readonly (string | ModelPart)[]) =>
  readAll(streamOf(parts), {
    form,
    offered: { names: new Set(NAMES), valueOf: (calls, said) => ({ calls, said }) },
  });

const of = (name: string, text: string, index = 0): ModelPart => argumentsPart(text, { index, name });
const search = (text: string, index = 0): ModelPart => of('search', text, index);
/** A normal reply in a form. */
const reply = (form: ReplyForm, text: string, index = 9): string | ModelPart =>
  form === 'text' ? text : argumentsPart(text, { index });

describe.each(FORMS)('a call of an offered tool instead of a reply (%s)', (form) => {
  test('[C4] is returned with its unparsed arguments, wherever they are split and whatever they contain', async () => {
    const given = fc.oneof(
      fc.json().filter((json) => json.trim() !== ''),
      fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.trim() !== ''),
    );
    await fc.assert(
      fc.asyncProperty(given, fc.array(fc.nat(300), { maxLength: 8 }), async (text, cuts) => {
        const pieces = splitAt(text, cuts);
        const { value, failure, texts, partials } = await read(
          form,
          pieces.map((piece) => search(piece)),
        );
        const whole = { calls: [{ id: '', name: 'search', arguments: text }], said: '' };
        expect({ value, failure, text: texts.join('') }).toEqual({ value: whole, failure: null, text });
        expect(partials.at(-1)).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  test('[C4] does not change how a normal reply is read', async () => {
    const { value, failure } = await read(form, [reasoningPart('Hm.'), reply(form, '{"a":'), reply(form, '1}')]);
    expect({ value, failure }).toEqual({ value: { a: 1 }, failure: null });
  });

  test.each([
    ['before it', [reply(form, '{"a":1}'), search('{"q":1}')]],
    ['before it, incomplete', [reply(form, '{"a":'), search('{"q":1}')]],
    ['after it', [search('{"q":1}'), reply(form, '{"a":1}')]],
    ['around it', [search('{"q"'), reply(form, '{"a":1}'), search(':1}')]],
  ])('[C4] has priority over a normal reply %s', async (_, parts) => {
    const { value, failure } = await read(form, parts);
    expect({ value, failure }).toEqual({
      value: { calls: [{ id: '', name: 'search', arguments: '{"q":1}' }], said: '' },
      failure: null,
    });
  });

  test('[C4] is one of several calls, in the order of their starts, however they are interleaved', async () => {
    const { value, told, texts, text } = await read(form, [
      search('{"q":', 3),
      of('clock', '{}', 4),
      search('{"q":"other"}', 5),
      search('1}', 3),
    ]);
    const calls = [
      { id: '', name: 'search', arguments: '{"q":1}' },
      { id: '', name: 'clock', arguments: '{}' },
      { id: '', name: 'search', arguments: '{"q":"other"}' },
    ];
    expect(value).toEqual({ calls, said: '' });
    expect(texts).toEqual(['{"q":', '{}', '{"q":"other"}', '1}']);
    expect(told).toEqual(['text', 'text', 'text', 'text']);
    expect(text.split('\n')).toEqual(
      calls.map((call) => `[called the tool ${call.name} with the arguments ${call.arguments}]`),
    );
  });

  test('[C4] includes the text before it without reasoning', async () => {
    const { value } = await read(form, ['<think>{"a":', '1} or so</think> Let ', 'me see [1]. ', search('{}'), 'Bye.']);
    expect(value).toEqual({ calls: [{ id: '', name: 'search', arguments: '{}' }], said: 'Let me see [1].' });
  });

  test('[A12] is visible in partials from its name on, one partial per chunk', async () => {
    const { partials } = await read(form, ['Well. ', search(''), search('{"q"'), reasoningPart('Hm.'), search(':1}')]);
    expect(partials).toEqual(
      ['', '{"q"', '{"q":1}'].map((given) => ({
        calls: [{ id: '', name: 'search', arguments: given }],
        said: 'Well.',
      })),
    );
  });

  test('[A10] is reported as truncated, with its name, if the output limit cut its arguments', async () => {
    for (const cut of ['', '{"q":"so', '{"q":1', '[{}']) {
      const { value, failure, text } = await read(form, ['Well.', search(cut), finishPart('length')]);
      expect(value).toBeNull();
      expect(failure).toMatchObject({ stage: 'extraction', code: 'truncated', retryable: true });
      expect(failure?.message).toContain('“search”');
      expect(text).toBe(`Well.\n[called the tool search with the arguments ${cut}]`);
    }
  });

  test('[A10] keeps calls of unknown tools beside it, in the order of their starts', async () => {
    const { value } = await read(form, [
      of('foo', '{"a"', 1),
      search('{"q":', 2),
      of('foo', ':1}', 1),
      search('1}', 2),
    ]);
    const calls = [
      { id: '', name: 'foo', arguments: '{"a":1}' },
      { id: '', name: 'search', arguments: '{"q":1}' },
    ];
    expect(value).toEqual({ calls, said: '' });
  });

  test('[A2] is one of at most 256, and each chunk costs the same', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => search('{}', index));
    expect((await read(form, many(256))).failure).toBeNull();
    const { value, failure } = await read(form, [...many(1_000), search('{}', 1_001)]);
    expect({ value, code: failure?.code }).toEqual({ value: null, code: 'too_many_calls' });
  });

  test('[A10] of an unknown tool is a failure that names it', async () => {
    const { value, failure } = await read(form, [of('sear\u202ech', '{"q":1}')]);
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'no_tool_call', retryable: true });
    expect(failure?.message).toContain('“sear ch”');
  });
});

describe('failures with offered tools', () => {
  test('[A10] list the tools for an unknown call, and report prose as a missing call', async () => {
    const unknown = await read('text', ['I look it up.', of('find', '{}')]);
    expect(unknown.failure?.message).toBe(
      'The reply calls “find”, which is not an available tool; expected a call of search, clock, or one JSON object.',
    );
    expect((await read('text', ['I look it up.'])).failure).toMatchObject({ code: 'no_json' });
    expect((await read('text', [of('find', '{}'), finishPart('length')])).failure).toMatchObject({ code: 'truncated' });
  });

  test(`[A12] in tool-call form report any other call as a reply without a call of ${TOOL}`, async () => {
    const { failure } = await read('tool-call', [of('find', '{}')]);
    expect(failure?.message).toBe(`The reply does not call the tool “${TOOL}”; a call of “find” came instead.`);
  });
});
