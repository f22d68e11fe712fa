import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { COMPOSING, LISTING, layoutOf, splitName } from '../../../../machines/heuristics/evidence-index.ts';
import { termsOf } from '../../../../machines/text/terms.ts';

const layout = (text: string) => layoutOf(text, termsOf(text));
const names = (text: string) => layout(text).runs.map(({ stems }) => stems.join(' '));

describe('the layout of a text', () => {
  it('counts its sentences by the places of its content words [Y3]', () => {
    expect(layout('Boats sail. Harbours freeze! Why? Storms rage').sentences).toEqual([0, 0, 1, 1, 2, 2]);
    expect(layout('A title\nBoats sail').sentences).toEqual([0, 1, 1]);
  });

  it.each(['Dr. Vold sails', 'J. S. Vold sails', 'St. Vold sails', 'version 2.5 sails'])(
    'ends no sentence within "%s" [Y3]',
    (text) => {
      expect(new Set(layout(text).sentences)).toEqual(new Set([0]));
    },
  );

  it('puts capitalised words that stand together into one name [Y3]', () => {
    expect(names('he met Henrik Vold of the Bank of Bergen, Anna Lie and a sailor')).toEqual([
      'henrik vold bank bergen',
      'anna lie',
    ]);
    expect(names('he left Bergen. Oslo was far')).toEqual(['bergen', 'oslo']);
  });

  it('knows the names that open a sentence, whose capital letter says little [Y3]', () => {
    const opens = layout('Boats pass it. The Bergen Line sails by it. Harbours freeze near Oslo').runs.map(
      (run) => run.opens,
    );
    expect(opens).toEqual([true, false, true, false]);
  });

  it('cuts a name into the names that it is made of, or only where it lists several [Y3]', () => {
    const [run] = layout("see Anna Lie's Bank of Bergen and Oslo").runs;
    const cut = (at: ReadonlySet<string>) => (run ? splitName(run, at) : []).map((part) => part.join(' '));
    expect(cut(LISTING)).toEqual(['anna lie', 'bank bergen', 'oslo']);
    expect(cut(COMPOSING)).toEqual(['anna lie', 'bank', 'bergen', 'oslo']);
  });

  it('gives every content word a sentence, in order, and names nothing that is not there [Y3]', () => {
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
