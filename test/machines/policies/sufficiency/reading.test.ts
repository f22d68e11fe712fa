import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexText, isHead, placesOf } from '../../../../machines/heuristics/evidence-index.ts';
import { stemsOf } from '../../../../machines/text/terms.ts';

const read = (content: string) => indexText({ content });

describe('the reading of a gathered text', () => {
  it('takes a short first line for the title, and what it says for what the text is about [Y3]', () => {
    const reading = read('Springfield, Ohio (city)\nIt lies on a river.');
    expect(reading.titleLength).toBe(3);
    expect(isHead(reading, ['springfield', 'ohio'])).toBe(true);
    expect(isHead(reading, ['springfield'])).toBe(true);
    expect(isHead(reading, ['ohio'])).toBe(false);
  });

  it.each(['Springfield', 'Springfield\n', '\nSpringfield', `${'Springfield '.repeat(20)}\nIt lies on a river.`])(
    'finds no title in %j [Y3]',
    (content) => {
      expect(read(content)).toMatchObject({ titleLength: 0, heads: [] });
    },
  );

  it('is surer of a whole name than of a piece of it [Y3]', () => {
    const { names } = read('he joined the Royal Bergen Line');
    expect([...names]).toEqual(
      expect.arrayContaining([
        ['royal bergen line', 1],
        ['royal bergen', 0.8],
        ['bergen', 0.5],
      ]),
    );
  });

  it('takes neither months nor words that only open a sentence for names [Y3]', () => {
    expect([...read('It sank in March. Sailors left Bergen on Monday.').names.keys()]).toEqual(['bergen']);
    expect([...read('Bergen\nSailors left.').names.keys()]).toEqual(['bergen']);
  });

  it('reads a text once [Y3]', () => {
    const text = { content: 'Boats sail.' };
    expect(indexText(text)).toBe(indexText(text));
  });

  it('finds words where they follow one another, as a search through all places would [Y3]', () => {
    const word = fc.constantFrom('boat', 'sail', 'harbour');
    const words = fc.array(word, { maxLength: 12 });
    fc.assert(
      fc.property(words, fc.array(word, { minLength: 1, maxLength: 3 }), (text, sought) => {
        const [stems, wanted] = [stemsOf(text.join(' ')), stemsOf(sought.join(' '))];
        const places = stems.flatMap((_, at) => (wanted.every((stem, next) => stems[at + next] === stem) ? [at] : []));
        expect(placesOf(read(text.join(' ')), wanted)).toEqual(places);
      }),
    );
  });
});
