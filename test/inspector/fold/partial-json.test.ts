import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeValue, PartialJsonReader } from '../../../src/chain/presentation/partial-json.ts';
import { jsonOf } from '../../support/inspector/partial-value.ts';

const anObject = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue());
const someCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });

function pieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [...cuts.map((cut) => Math.floor(cut * text.length)), text.length].sort((one, other) => one - other);
  return places.map((place, at) => text.slice(places[at - 1] ?? 0, place));
}

function read(given: readonly string[]): PartialJsonReader {
  const json = new PartialJsonReader();
  for (const piece of given) json.push(piece);
  return json;
}

/** Matches the result of `JSON.parse`: members are own properties, and negative zero counts as zero. */
const plain = (value: unknown): string => JSON.stringify(value);

describe('incrementally parsed JSON', () => {
  it('equals the result of JSON.parse for any chunking and formatting', () => {
    fc.assert(
      fc.property(anObject, someCuts, fc.constantFrom(0, 2), fc.boolean(), (value, cuts, indent, escapes) => {
        const spelled = JSON.stringify(value, null, indent);
        const text = escapes ? spelled.replace(/[^\u0020-\u007e\n]/gu, escaped) : spelled;
        const { root } = read(pieces(text, cuts));
        expect(root?.open).toBe(false);
        expect(plain(jsonOf(root))).toBe(plain(JSON.parse(text)));
        expect(plain(jsonOf(completeValue(JSON.parse(text))))).toBe(plain(JSON.parse(text)));
      }),
    );
  });

  it('equals at each position the result for the whole prefix', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), (value) => {
        const text = JSON.stringify(value);
        const grown = new PartialJsonReader();
        for (let at = 0; at < text.length; at += 1) {
          grown.push(text.charAt(at));
          expect(plain(grown.root)).toBe(plain(read([text.slice(0, at + 1)]).root));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('finds the object in prose and fences and stops at its end', () => {
    const text = 'Let me {think}. In [0, 1): ```json\n{"a": [1, {"b": "c}"}], "d": tru';
    expect(jsonOf(read([text]).root)).toEqual({ a: [1, { b: 'c}' }], d: undefined });
    expect(jsonOf(read([`${text}e}\n\`\`\` and {"a": 2}`]).root)).toEqual({ a: [1, { b: 'c}' }], d: true });
  });

  it('reads each character a bounded number of times for any chunking', () => {
    const json = new PartialJsonReader();
    json.push('{"a":"');
    for (let at = 0; at < 300_000; at += 1) json.push('word ');
    json.push('"}');
    expect(jsonOf(json.root)).toEqual({ a: 'word '.repeat(300_000) });
  });
});

const escaped = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
