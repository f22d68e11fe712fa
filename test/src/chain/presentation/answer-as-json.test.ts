import { describe, expect, it } from 'vitest';
import { answerAsJson } from '../../../../src/chain/presentation/answer-as-text.ts';
import { aFinalAnswer } from '../../../support/contract-samples.ts';

const reversed = (value: unknown): unknown =>
  typeof value !== 'object' || value === null || Array.isArray(value)
    ? value
    : Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, reversed(member)]),
      );

describe('the final answer as JSON', () => {
  it('[E10] [Y10] is the complete answer on one line', () => {
    const json = answerAsJson(aFinalAnswer());
    expect(JSON.parse(json)).toEqual(aFinalAnswer());
    expect(json.indexOf('\n')).toBe(json.length - 1);
  });

  it('has keys in a fixed order regardless of insertion order', () => {
    const answer = aFinalAnswer();
    const other = reversed(answer) as typeof answer;
    expect(Object.keys(other)).not.toEqual(Object.keys(answer));
    expect(answerAsJson(other)).toBe(answerAsJson(answer));
    expect(answerAsJson(answer)).toMatch(/^\{"answerText":.*"confidence":.*"metadata":\{"budget":/);
  });

  it('can be indented', () => {
    const json = answerAsJson(aFinalAnswer(), { pretty: true });
    expect(json).toMatch(/^\{\n {2}"answerText": "In 1932\.",\n/);
    expect(JSON.parse(json)).toEqual(aFinalAnswer());
  });

  it('keeps keys such as __proto__', () => {
    const inputs = JSON.parse('{"__proto__": 1, "constructor": 2, "10": 3}');
    const { metadata, ...answer } = aFinalAnswer();
    const given = { ...answer, metadata: { ...metadata, decision: { ...metadata.decision, inputs } } } as never;
    expect(answerAsJson(given)).toContain('"inputs":{"10":3,"__proto__":1,"constructor":2}');
  });
});
