import { describe, expect, it } from 'vitest';
import { readContinuation, synthesizeLast } from '../../../../machines/policies/continuation.ts';
import { aCapabilityResult, deepFreeze } from '../../../support/contract-samples.ts';

const runs = (count: number) => Array.from({ length: count }, () => aCapabilityResult());

describe('reading the reply of a decider', () => {
  it.each([
    [{ done: true }, null],
    [{ done: true, finalOutput: null }, null],
    [{ done: true, finalOutput: 'So.' }, 'So.'],
    [{ done: true, finalOutput: 'So.', next: { capability: 'draft', arguments: '{}' } }, 'So.'],
  ])('[R5] reads %j as done', (said, finalOutput) => {
    expect(readContinuation(said)).toEqual({
      continuation: { done: true, finalOutput },
      calls: [],
      problem: null,
    });
  });

  it.each([
    ['{"a":1}', '{"a":1}'],
    [{ a: 1 }, '{"a":1}'],
    [{}, '{}'],
    ['', ''],
  ])('[R5] accepts %j as arguments of the next step', (given, text) => {
    const call = { capability: 'draft', arguments: text };
    expect(
      readContinuation({ done: false, finalOutput: null, next: { capability: 'draft', arguments: given } }),
    ).toEqual({ continuation: { done: false, next: [call] }, calls: [call], problem: null });
  });

  it.each([
    [undefined, 'missing_name'],
    [null, 'missing_name'],
    ['draft', 'missing_name'],
    [{ arguments: {} }, 'missing_name'],
    [{ capability: 5, arguments: {} }, 'missing_name'],
    [{ capability: 'draft' }, 'arguments_not_object'],
    [{ capability: 'draft', arguments: null }, 'arguments_not_object'],
    [{ capability: 'draft', arguments: 5 }, 'arguments_not_object'],
    [{ capability: 'draft', arguments: [1] }, 'arguments_not_object'],
  ])('[R5] rejects the next step %j: %s', (next, code) => {
    expect(readContinuation({ done: false, next })).toMatchObject({
      continuation: { done: false, next: [] },
      calls: [],
      problem: { code },
    });
  });

  it.each([undefined, null, 5, 'done', [], {}, { done: 'yes' }, { done: true, finalOutput: 5 }])(
    '[R7] rejects %j as a continuation',
    (said) => {
      expect(readContinuation(said)).toMatchObject({ continuation: null, calls: [], problem: { code: null } });
    },
  );

  it('[R5] rejects non-JSON arguments', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(readContinuation({ done: false, next: { capability: 'draft', arguments: loop } }).continuation).toBeNull();
  });
});

describe('a final output', () => {
  it('[R5] replaces only the last result when it has text', () => {
    const results = deepFreeze(runs(3));
    expect(synthesizeLast(results, { done: true, finalOutput: 'the end' })).toEqual([
      ...results.slice(0, 2),
      { ...aCapabilityResult(), output: 'the end', synthesized: true },
    ]);
  });

  it.each([null, '', '  \n'])('[R5] keeps the last result unchanged for %j', (finalOutput) => {
    expect(synthesizeLast(deepFreeze(runs(2)), { done: true, finalOutput })).toEqual(runs(2));
  });

  it('[R5] is ignored when nothing ran', () => {
    expect(synthesizeLast([], { done: true, finalOutput: 'the end' })).toEqual([]);
  });
});
