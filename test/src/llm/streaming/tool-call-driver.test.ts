import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
    expect(cut.failure).toMatchObject({ code: 'no_json', message: expect.stringContaining('do not end') });
    for (const parts of [[argumentsPart('{"a":1')], [argumentsPart('')], [reasoningPart('Hm.')]]) {
      const { failure } = await readCalls([...parts, finishPart('length')]);
      expect(failure).toMatchObject({ code: 'truncated', message: expect.stringContaining(TOOL) });
    }
  });
});
