import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonExtent } from '../../../src/models/openai/openai-model.ts';

describe('tracking the extent of streamed JSON', () => {
  test('[A12] an object or array is open from its first character to the one before its last', () => {
    const container = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()));
    fc.assert(
      fc.property(container, fc.boolean(), (value, isIndented) => {
        const extent = new JsonExtent();
        const characters = [...JSON.stringify(value, null, isIndented ? 2 : 0)];
        const states = characters.map((character) => {
          extent.add(character);
          return extent.state;
        });
        expect(states.slice(0, -1).every((state) => state === 'open')).toBe(true);
        expect(states.at(-1)).toBe('closed');
      }),
    );
  });

  test('whitespace does not count, and text after the end does not reopen it', () => {
    const extent = new JsonExtent();
    extent.add(' \n');
    expect(extent.state).toBe('none');
    extent.add('{}');
    extent.add(' ');
    expect(extent.state).toBe('closed');
  });
});
