import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelPart, ReplyForm } from '../../../../machines/contracts/model.ts';
import { withOfferedTools } from '../../../../src/llm/streaming/offered-tools.ts';
import { anError } from '../../../support/errors.ts';
import { splitAt, wrappedJson } from '../../../support/json-text.ts';
import {
  argumentsPart,
  finishPart,
  readAll,
  readArguments,
  readText,
  reasoningPart,
  streamOf,
  TOOL,
} from '../../../support/model-streams.ts';

type Parts = Parameters<typeof streamOf>[0];

const readCalls = (parts: Parts) => readAll(streamOf(parts), { form: 'tool-call' });
const other = (text: string, index = 1) => argumentsPart(text, { index, name: 'search' });

describe('a reply in tool-call arguments', () => {
  test('[A12] tool-call arguments: equals the same JSON in text, wherever it is split', async () => {
    await fc.assert(
      fc.asyncProperty(wrappedJson, fc.array(fc.nat(2_000), { maxLength: 12 }), async ({ json, value }, cuts) => {
        const pieces = splitAt(json, cuts);
        const [called, written] = [await readArguments(...pieces), await readText(...pieces)];
        expect(called.value).toEqual(value);
        expect({ ...called, partials: called.partials.at(-1) }).toEqual({ ...written, partials: value });
      }),
      { numRuns: 200 },
    );
  });

  test('[A12] tool-call arguments: is the first call of the tool, however calls are interleaved', async () => {
    const read = await readCalls([
      other('{"q":"so', 0),
      argumentsPart('{"a":', { index: 2 }),
      argumentsPart('{"a":"later"}', { index: 3 }),
      other('me"}', 0),
      argumentsPart('1}', { index: 2 }),
      finishPart('tool-calls'),
    ]);
    expect(read).toMatchObject({ text: '{"a":1}', value: { a: 1 }, failure: null, texts: ['{"a":', '1}'] });
    expect(read.told).toEqual(['alive', 'text', 'alive', 'alive', 'text']);
  });

  test('excludes text and reasoning beside the call, which with empty arguments count only as heartbeats', async () => {
    const read = await readCalls([
      reasoningPart('Hm.'),
      'I call {"a":2}',
      argumentsPart(''),
      argumentsPart('{"a":1}'),
      'Done.',
    ]);
    expect(read).toMatchObject({ text: '{"a":1}', value: { a: 1 }, partials: [{ a: 1 }] });
    expect(read.told).toEqual(['alive', 'alive', 'alive', 'text', 'alive']);
  });
});

describe('a tool call that is not a reply', () => {
  test.each<[string, Parts, string]>([
    ['text', ['{"a":1}'], 'text came instead: “{"a":1}”'],
    ['a call of another tool', ['Well, ', other('{"a":1}')], 'a call of “search” came instead'],
    ['only reasoning', [reasoningPart('{"a":1}')], 'nothing came instead'],
    ['nothing', [], 'nothing came instead'],
  ])('[A10] is an extraction failure that names the tool: %s', async (_, parts, instead) => {
    const { value, failure, text } = await readCalls(parts);
    expect({ value, text }).toEqual({ value: null, text: '' });
    expect(failure).toMatchObject({ stage: 'extraction', code: 'no_tool_call', retryable: true });
    expect(failure?.message).toBe(`The reply does not call the tool “${TOOL}”; ${instead}.`);
  });

  test.each([[['']], [[' ', '\n']]])('[A10] without arguments is an empty reply: %j', async (pieces) => {
    const { value, failure } = await readArguments(...pieces);
    expect({ value, code: failure?.code, stage: failure?.stage }).toEqual({
      value: null,
      code: 'empty_reply',
      stage: 'extraction',
    });
  });

  test.each([
    ['prose before the arguments', 'Here: {"a":1}'],
    ['prose after the arguments', '{"a":1} Done.'],
    ['a second object', '{"a":1}{"b":2}'],
    ['a fence', '```json\n{"a":1}\n```'],
    ['a trailing comma', '{"a":1,}'],
    ['whitespace that JSON does not allow', '{"a":1}\u00a0'],
  ])('[A10] with %s is rejected, whole and in chunks', async (_, text) => {
    for (const pieces of [[text], [...text]]) {
      const { value, failure } = await readArguments(...pieces);
      expect(value).toBeNull();
      expect(failure).toMatchObject({ stage: 'extraction', code: 'no_json' });
      expect(failure?.message).toContain(TOOL);
    }
  });

  test('[A10] with unterminated arguments is reported as such, or as truncated at the output limit', async () => {
    const cut = await readArguments('{"a":1');
    expect(cut.failure).toMatchObject(anError('no_json', 'do not end'));
    for (const parts of [[argumentsPart('{"a":1')], [argumentsPart('')], [reasoningPart('Hm.')]]) {
      const { failure } = await readCalls([...parts, finishPart('length')]);
      expect(failure).toMatchObject(anError('truncated', TOOL));
    }
  });
});

const FORMS: readonly ReplyForm[] = ['text', 'tool-call'];
const NAMES = ['search', 'clock'];

/** Reads the parts with two tools offered in addition to the reply. */
const read = (form: ReplyForm, parts: readonly (string | ModelPart)[]) =>
  readAll(streamOf(parts), {
    form,
    offered: { names: new Set(NAMES), valueOf: (calls, said) => ({ calls, said }), wrap: withOfferedTools },
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
      'The reply calls “find”, which is not an available tool; expected a call of search, clock, or a reply without calls.',
    );
    expect((await read('text', ['I look it up.'])).failure).toMatchObject({ code: 'no_json' });
    expect((await read('text', [of('find', '{}'), finishPart('length')])).failure).toMatchObject({ code: 'truncated' });
  });

  test(`[A12] in tool-call form report any other call as a reply without a call of ${TOOL}`, async () => {
    const { failure } = await read('tool-call', [of('find', '{}')]);
    expect(failure?.message).toBe(`The reply does not call the tool “${TOOL}”; a call of “find” came instead.`);
  });
});
