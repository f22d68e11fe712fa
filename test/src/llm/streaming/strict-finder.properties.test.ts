import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StrictFinder } from '../../../../src/llm/streaming/strict-finder.ts';
import { hasLongNumber, spacedJson, splitAt } from '../../../support/json-text.ts';
import { readArguments } from '../../../support/model-streams.ts';
import { sampleSize } from '../../../support/soak.ts';

const places = fc.array(fc.nat(2_000), { maxLength: 12 });

/** JSON tokens and near misses. */
const scraps = fc.oneof(
  fc.constantFrom(...'{}[]:,"\\-+.eE019tfnu/ \n\r\t\u0000\u00a0\ufeff\u2028x'),
  fc.constantFrom('\\u12', '\\u00G0', 'true', 'nul', '1e', '-', '01', '1.', '.5', '//', '""', '{}', '[]', "'"),
  fc.string({ maxLength: 3 }),
);

/** JSON with some characters removed, inserted, moved, or duplicated. */
const mutated = fc
  .tuple(spacedJson, fc.array(fc.tuple(fc.nat(500), fc.nat(3), scraps), { minLength: 1, maxLength: 3 }))
  .map(([json, changes]) =>
    changes.reduce((text, [place, length, scrap]) => {
      const at = place % (text.length + 1);
      return text.slice(0, at) + scrap + text.slice(at + length);
    }, json),
  );

/** Whether JSON.parse accepts a text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns where the finder locates the value in these chunks. */
function found(pieces: readonly string[]) {
  const finder = new StrictFinder();
  for (const piece of pieces) finder.push(piece);
  finder.end();
  return finder.found;
}

describe('detecting whether a whole text is JSON', () => {
  test('[A12] tool-call arguments: accepts any JSON, wherever it is split', () => {
    fc.assert(
      fc.property(spacedJson, places, (json, cuts) => {
        for (const pieces of [splitAt(json, cuts), [...json]])
          expect(found(pieces)).toEqual({ from: 0, to: json.length });
      }),
      { numRuns: 200 },
    );
  });

  test('[A10] agrees with JSON.parse on mutated JSON, wherever it is split', () => {
    fc.assert(
      fc.property(mutated, places, (text, cuts) => {
        const wanted = isJson(text) ? { from: 0, to: text.length } : null;
        for (const pieces of [[text], splitAt(text, cuts), text.split('')]) expect(found(pieces), text).toEqual(wanted);
      }),
      { numRuns: sampleSize('mutated JSON texts', 1_000, 50_000) },
    );
  });

  test('[A12] tool-call arguments: returns the result of JSON.parse or no value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(spacedJson, mutated), places, async (text, cuts) => {
        const { value, failure, partials } = await readArguments(...splitAt(text, cuts));
        const known = isJson(text) ? (JSON.parse(text) as unknown) : null;
        fc.pre(!hasLongNumber(known));
        expect({ value, stage: failure?.stage }).toStrictEqual({
          value: known,
          stage: isJson(text) ? undefined : 'extraction',
        });
        if (failure === null) expect(partials.at(-1)).toStrictEqual(value);
      }),
      { numRuns: 500 },
    );
  });
});

describe('text passed to the parser', () => {
  test('is the text of the arguments without whitespace and root numbers, and never more', () => {
    fc.assert(
      fc.property(spacedJson, places, (json, cuts) => {
        const finder = new StrictFinder();
        const views = splitAt(json, cuts).map((piece) => finder.push(piece));
        const view = views.join('');
        expect(view.length).toBeLessThanOrEqual(json.length);
        if (typeof JSON.parse(json) !== 'number') expect(JSON.parse(view)).toStrictEqual(JSON.parse(json));
      }),
      { numRuns: 300 },
    );
  });
});
