import { describe, expect, it } from 'vitest';
import { foldWord, stemOfFolded } from '../../../machines/text/words.ts';
import { compoundsOf, otherSpelling, partsOfCompound } from '../../../src/documents/word-forms.ts';

const stem = (word: string): string => stemOfFolded(foldWord(word));
const spelled = (word: string): string => otherSpelling(word, stem(word)) ?? stem(word);

describe('the other spelling of a word', () => {
  it.each([
    ['Müller', 'Mueller'],
    ['MÜLLER', 'mueller'],
    ['Mu\u0308ller', 'Mueller'],
    ['Århus', 'Aarhus'],
    ['Tromsø', 'Tromsoe'],
    ['colour', 'color'],
    ['favourites', 'favorites'],
    ['behavioural', 'behavioral'],
    ['organized', 'organised'],
    ['Organization', 'organisation'],
    ['analyzing', 'analysing'],
    ['centres', 'centers'],
    ['fibre', 'fiber'],
    ['catalogues', 'catalogs'],
    ['defence', 'defense'],
    ['licences', 'licenses'],
    ['programmes', 'programs'],
  ])('is the same for "%s" and "%s"', (one, other) => {
    expect(spelled(one)).toBe(spelled(other));
  });

  it.each('poet pot duel blue fuel hour four size prize horizon citizen there entire ogre reference agency'.split(' '))(
    'does not exist for "%s"',
    (word) => {
      expect(otherSpelling(word, stem(word))).toBeNull();
    },
  );

  it('does not belong to a part of a word', () => {
    expect(otherSpelling('ColourBar', 'bar')).toBeNull();
    expect(otherSpelling('Müller', 'muller+')).toBeNull();
  });
});

describe('a compound', () => {
  it.each([
    ['kundigungsfrist', 'frist', 'kundigung'],
    ['schulferien', 'ferien', 'schule'],
    ['datenbank', 'daten', 'bank'],
    ['checkpoint', 'check', 'point'],
  ])('%s consists of %s and %s', (compound, one, other) => {
    const exists = (word: string): boolean => [compound, one, other].includes(word);
    expect(compoundsOf([one, other], exists).map(([found]) => found)).toEqual([compound]);
    expect(partsOfCompound(compound, exists).map((parts) => parts.toSorted())).toEqual([[one, other].toSorted()]);
  });

  it('has only parts that exist and have at least four letters', () => {
    expect(compoundsOf(['car', 'pet'], () => true)).toEqual([]);
    expect(partsOfCompound('carpet', () => true)).toEqual([]);
    expect(partsOfCompound('kundigungsfrist', (part) => part !== 'kundigung' && part === 'frist')).toEqual([]);
  });
});
