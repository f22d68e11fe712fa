import fc from 'fast-check';
import { expect, test } from 'vitest';
import { excerpt, jsonExcerpt } from '../../../inspector/fold/text.ts';
import { clipped, clippedLine, firstChars, lastChars } from '../../../machines/text/clip.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import { extractSummary, preview, summarize } from '../../../machines/text/summary.ts';
import { describeValue } from '../../../src/internal/describe-value.ts';
import { cutEnd, cutStart } from '../../../src/internal/printable.ts';

/** Every way to cut a text to a number of characters. */
const CUTS: readonly (readonly [string, (text: string, chars: number) => string])[] = [
  ['firstChars', firstChars],
  ['lastChars', lastChars],
  ['clipped', clipped],
  ['clippedLine', clippedLine],
  ['preview', preview],
  ['summarize', summarize],
  ['extractSummary', (text, chars) => extractSummary(text, chars, 'why')],
  ['cutEnd', cutEnd],
  ['cutStart', cutStart],
  ['excerpt', excerpt],
  ['jsonExcerpt', jsonExcerpt],
  ['describeValue', (text, chars) => describeValue(firstChars(text, 2 * chars))],
];

const astral = fc.array(fc.constantFrom('😀', '𝕏', 'a', '. ', '\n'), { maxLength: 120 }).map((parts) => parts.join(''));

test.each(CUTS)('%s never leaves half a surrogate pair', (_, cut) => {
  fc.assert(
    fc.property(astral, fc.integer({ min: 1, max: 60 }), (text, half) => {
      const shown = cut(text, half);
      expect(shown).toBe(wellFormed(shown));
    }),
  );
});
