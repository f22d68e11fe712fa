import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPOSING, LISTING, layoutOf, splitName } from '../../../../machines/heuristics/evidence-index.ts';
import { termsOf } from '../../../../machines/text/terms.ts';

const layout = (text: string) => layoutOf(text, termsOf(text));
const names = (text: string) => layout(text).runs.map(({ stems }) => stems.join(' '));

describe('the layout of a text', () => {
  it('[Y3] assigns content words to sentences by position', () => {
    expect(layout('Boats sail. Harbours freeze! Why? Storms rage').sentences).toEqual([0, 0, 1, 1, 2, 2]);
    expect(layout('A title\nBoats sail').sentences).toEqual([0, 1, 1]);
  });

  it.each(['Dr. Vold sails', 'J. S. Vold sails', 'St. Vold sails', 'version 2.5 sails'])(
    '[Y3] does not split the sentence at "%s"',
    (text) => {
      expect(new Set(layout(text).sentences)).toEqual(new Set([0]));
    },
  );

  it('[Y3] joins adjacent capitalized words into one name', () => {
    expect(names('he met Henrik Vold of the Bank of Bergen, Anna Lie and a sailor')).toEqual([
      'henrik vold bank bergen',
      'anna lie',
    ]);
    expect(names('he left Bergen. Oslo was far')).toEqual(['bergen', 'oslo']);
  });

  it('[Y3] marks names that open a sentence, whose capital letter is not significant', () => {
    const opens = layout('Boats pass it. The Bergen Line sails by it. Harbours freeze near Oslo').runs.map(
      (run) => run.opens,
    );
    expect(opens).toEqual([true, false, true, false]);
  });

  it('[Y3] splits a name into its parts only if it is a list', () => {
    const [run] = layout("see Anna Lie's Bank of Bergen and Oslo").runs;
    const cut = (at: ReadonlySet<string>) => (run ? splitName(run, at) : []).map((part) => part.join(' '));
    expect(cut(LISTING)).toEqual(['anna lie', 'bank bergen', 'oslo']);
    expect(cut(COMPOSING)).toEqual(['anna lie', 'bank', 'bergen', 'oslo']);
  });

  it('[Y3] assigns every content word to a sentence, in order, and adds no names', () => {
    const piece = fc.constantFrom(
      'Oslo',
      'Bergen',
      'of',
      'and',
      'boats',
      '.',
      '?',
      '\n',
      ' ',
      ' ',
      'Dr',
      'fjordLine',
      '’s',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece).map((pieces) => pieces.join('')),
        ),
        (text) => {
          const terms = termsOf(text);
          const { sentences, runs } = layoutOf(text, terms);
          expect(sentences).toHaveLength(terms.length);
          for (const [at, sentence] of sentences.entries())
            expect(sentence - (sentences[at - 1] ?? 0)).toBeOneOf([0, 1]);
          const stems = new Set(terms.map(({ stem }) => stem));
          for (const run of runs) {
            expect(run.binders).toHaveLength(run.stems.length);
            expect(run.stems.every((stem) => stems.has(stem))).toBe(true);
            expect(splitName(run, COMPOSING).flat()).toEqual(run.stems);
          }
        },
      ),
    );
  });
});
