import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelPart, ReplyForm } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { cutAt } from './json-text.ts';
import { argumentsOf, finish, readAll, reasoning, stream, TOOL } from './model-stream.ts';

const FORMS: readonly ReplyForm[] = ['text', 'tool-call'];
const NAMES = ['search', 'clock'];

/** Reads the parts with two tools offered beside the reply; a call of one is told as it was taken. */
const read = (form: ReplyForm, parts: readonly (string | ModelPart)[]) =>
  readAll(stream(parts), {
    form,
    offered: { names: new Set(NAMES), valueOf: (call, said) => ({ ...call, said }) },
  });

const of = (name: string, text: string, index = 0): ModelPart => argumentsOf(text, { index, name });
const search = (text: string, index = 0): ModelPart => of('search', text, index);
/** A normal reply in a form. */
const reply = (form: ReplyForm, text: string, index = 9): string | ModelPart =>
  form === 'text' ? text : argumentsOf(text, { index });

describe.each(FORMS)('a call of an offered tool in place of a reply (%s)', (form) => {
  test('[C4] is the reply, its arguments unparsed, wherever they are cut and whatever they are', async () => {
    const given = fc.oneof(
      fc.json().filter((json) => json.trim() !== ''),
      fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.trim() !== ''),
    );
    await fc.assert(
      fc.asyncProperty(given, fc.array(fc.nat(300), { maxLength: 8 }), async (text, cuts) => {
        const pieces = cutAt(text, cuts);
        const { value, failure, texts, partials } = await read(
          form,
          pieces.map((piece) => search(piece)),
        );
        const whole = { name: 'search', arguments: text, said: '' };
        expect({ value, failure, text: texts.join('') }).toEqual({ value: whole, failure: null, text });
        expect(partials.at(-1)).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });

  test('[C4] a normal reply is read as ever', async () => {
    const { value, failure } = await read(form, [reasoning('Hm.'), reply(form, '{"a":'), reply(form, '1}')]);
    expect({ value, failure }).toEqual({ value: { a: 1 }, failure: null });
  });

  test.each([
    ['before it', [reply(form, '{"a":1}'), search('{"q":1}')]],
    ['before it, unfinished', [reply(form, '{"a":'), search('{"q":1}')]],
    ['behind it', [search('{"q":1}'), reply(form, '{"a":1}')]],
    ['in the midst of it', [search('{"q"'), reply(form, '{"a":1}'), search(':1}')]],
  ])('[C4] it wins over a normal reply %s', async (_, parts) => {
    const { value, failure } = await read(form, parts);
    expect({ value, failure }).toEqual({ value: { name: 'search', arguments: '{"q":1}', said: '' }, failure: null });
  });

  test('[C4] of calls at once the first is taken, however they are interleaved', async () => {
    const { value, told, texts } = await read(form, [
      search('{"q":', 3),
      of('clock', '{}', 4),
      search('{"q":"other"}', 5),
      search('1}', 3),
    ]);
    expect(value).toEqual({ name: 'search', arguments: '{"q":1}', said: '' });
    expect(texts).toEqual(['{"q":', '1}']);
    expect(told).toEqual(['text', 'alive', 'alive', 'text']);
  });

  test('[C4] what was said before it goes with it, without what was thought aloud', async () => {
    const { value } = await read(form, ['<think>{"a":', '1} or so</think> Let ', 'me see [1]. ', search('{}'), 'Bye.']);
    expect(value).toEqual({ name: 'search', arguments: '{}', said: 'Let me see [1].' });
  });

  test('[A12] partials show the call from its name on, one for each piece', async () => {
    const { partials } = await read(form, ['Well. ', search(''), search('{"q"'), reasoning('Hm.'), search(':1}')]);
    expect(partials).toEqual(
      ['', '{"q"', '{"q":1}'].map((given) => ({ name: 'search', arguments: given, said: 'Well.' })),
    );
  });

  test('a call with no arguments at all has an empty object of them', async () => {
    for (const parts of [[search('')], [search(' '), search('')]])
      expect((await read(form, parts)).value).toMatchObject({ arguments: '{}' });
  });

  test('[A10] arguments that the output limit cut are truncated, and the reply says what was called', async () => {
    for (const cut of ['', '{"q":"so', '{"q":1', '[{}']) {
      const { value, failure, text } = await read(form, ['Well.', search(cut), finish('length')]);
      expect(value).toBeNull();
      expect(failure).toMatchObject({ stage: 'extraction', code: 'truncated', retryable: true });
      expect(failure?.message).toContain('“search”');
      expect(text).toBe(`Well.\n[called the tool search with the arguments ${cut}]`);
    }
  });

  test('whole arguments before the output limit are the call', async () => {
    const { value } = await read(form, [search('{"q":1}'), of('clock', '{"zone', 1), finish('length')]);
    expect(value).toMatchObject({ name: 'search', arguments: '{"q":1}' });
  });

  test('[A10] [A13] what broke the stream is the failure, however whole the call is', async () => {
    const failure = failureOf('transport', 'stream_cut', 'The connection broke.');
    expect(await read(form, [search('{}'), { type: 'failure', failure }])).toMatchObject({ value: null, failure });
    const filtered = await read(form, [search('{}'), finish('content-filter')]);
    expect(filtered).toMatchObject({ value: null, failure: { code: 'filtered', retryable: false } });
  });

  test('[A10] a call of a tool that there is not is a failure that names it', async () => {
    const { value, failure } = await read(form, [of('sear\u202ech', '{"q":1}')]);
    expect(value).toBeNull();
    expect(failure).toMatchObject({ stage: 'extraction', code: 'no_tool_call', retryable: true });
    expect(failure?.message).toContain('“sear ch”');
  });

  test('a reply beside a call of a tool that there is not is the reply', async () => {
    expect(await read(form, [of('foo', '{}', 1), reply(form, '{"a":1}')])).toMatchObject({
      value: { a: 1 },
      failure: null,
    });
  });

  test('a call is bounded as any reply is', async () => {
    const { failure, text } = await readAll(stream([search('x'.repeat(50)), search('y'.repeat(5_000))]), {
      form,
      maxChars: 100,
      offered: { names: new Set(NAMES), valueOf: () => ({}) },
    });
    expect(failure).toMatchObject({ code: 'too_long' });
    expect(text.length).toBeLessThan(200);
  });
});

describe('what a reply in text says of tools', () => {
  test('[A10] the failure of a call of none of them lists them, and prose is said to hold no call', async () => {
    const unknown = await read('text', ['I look it up.', of('find', '{}')]);
    expect(unknown.failure?.message).toBe(
      'The reply calls “find”, which is not an available tool; expected a call of search, clock, or one JSON object.',
    );
    expect((await read('text', ['I look it up.'])).failure).toMatchObject({ code: 'no_json' });
    expect((await read('text', [of('find', '{}'), finish('length')])).failure).toMatchObject({ code: 'truncated' });
  });

  test('without tools a call is none of the reply, as ever', async () => {
    const { failure } = await readAll(stream([of('search', '{}')]));
    expect(failure).toMatchObject({ code: 'empty_reply' });
  });

  test(`[A12] in the form of a tool call, a call of neither is told as a reply without a call of ${TOOL}`, async () => {
    const { failure } = await read('tool-call', [of('find', '{}')]);
    expect(failure?.message).toBe(`The reply does not call the tool “${TOOL}”; a call of “find” came instead.`);
  });
});

test('[A2] a call costs in proportion to its characters: its value is made once a piece, of text that is not copied', async () => {
  let made = 0;
  const pieces = Array.from({ length: 20_000 }, () => search('x'.repeat(10)));
  const { value } = await readAll(stream(pieces), {
    offered: {
      names: new Set(NAMES),
      valueOf: (call) => {
        made += 1;
        return { chars: call.arguments.length };
      },
    },
  });
  expect({ value, made }).toEqual({ value: { chars: 200_000 }, made: 20_001 });
});
