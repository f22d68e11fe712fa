import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indexText, isHead, placesOf } from '../../../../machines/heuristics/evidence-index.ts';
import { stemsOf } from '../../../../machines/text/terms.ts';

const read = (content: string) => indexText({ content });

describe('reading a retrieved text', () => {
  it('[Y3] uses a short first line as the title and subject', () => {
    const reading = read('Springfield, Ohio (city)\nIt lies on a river.');
    expect(reading.titleLength).toBe(3);
    expect(isHead(reading, ['springfield', 'ohio'])).toBe(true);
    expect(isHead(reading, ['springfield'])).toBe(true);
    expect(isHead(reading, ['ohio'])).toBe(false);
  });

  it.each(['Springfield', 'Springfield\n', '\nSpringfield', `${'Springfield '.repeat(20)}\nIt lies on a river.`])(
    '[Y3] finds no title in %j',
    (content) => {
      expect(read(content)).toMatchObject({ titleLength: 0, heads: [] });
    },
  );

  it('[Y3] is more confident in a whole name than in a part of it', () => {
    const { names } = read('he joined the Royal Bergen Line');
    expect([...names]).toEqual(
      expect.arrayContaining([
        ['royal bergen line', 1],
        ['royal bergen', 0.8],
        ['bergen', 0.5],
      ]),
    );
  });

  it('[Y3] does not treat months or words that only open a sentence as names', () => {
    expect([...read('It sank in March. Sailors left Bergen on Monday.').names.keys()]).toEqual(['bergen']);
    expect([...read('Bergen\nSailors left.').names.keys()]).toEqual(['bergen']);
  });

  it('[Y3] reads each text once', () => {
    const text = { content: 'Boats sail.' };
    expect(indexText(text)).toBe(indexText(text));
  });

  it('[Y3] finds the same word sequences as an exhaustive search', () => {
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
