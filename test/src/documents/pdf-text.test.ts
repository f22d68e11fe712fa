import { describe, expect, it } from 'vitest';
import { pageText } from '../../../src/documents/pdf-text.ts';

/** Pieces of 10 points each, from left to right. A line break ends a line. */
const items = (pieces: readonly string[]) =>
  pieces.map((piece, at) => ({
    str: piece.replace('\n', ''),
    x: 10 * at,
    width: 10,
    fontSize: 12,
    hasEOL: piece.endsWith('\n'),
  }));
const shaped = (text: string) => items([...text]);

describe('the text of a PDF page', () => {
  it.each([
    ['shaped letters, one by one', shaped('ﺔﺒﺘﻜﻤﻟا ﺢﺘﻔﺗ ﻰﺘﻣ'), 'متى تفتح المكتبة'],
    ['a word of shaped letters', items(['ﺔﺒﺘﻜﻤﻟا', ' ', 'ﺢﺘﻔﺗ']), 'تفتح المكتبة'],
    ['a ligature', shaped('ﻡﻼﺳ'), 'سلام'],
    [
      'numbers and foreign words',
      items(['Chat', ' ', 'ﻢ', 'ﻳ', ' ', '12:30', ' ', 'ﻰ', 'ﺘ', 'ﻣ']),
      'متى 12:30 يم Chat',
    ],
    ['pieces of Hebrew, which are in order', items(['ספר', ' ', '45', ' ', 'שלום עולם']), 'שלום עולם 45 ספר'],
    ['a word within a Latin sentence', items(['Word (', 'ﺢ', 'ﺘ', 'ﻔ', 'ﺗ', ') and more']), 'Word (تفتح) and more'],
    [
      'letters in the order of reading',
      items(['ﻣﺘﻰ', ' ', 'ﺗﻔﺘﺢ']).map((item) => ({ ...item, x: -item.x })),
      'متى تفتح',
    ],
    ['brackets, which are mirrored', items(['»', 'ﺢ', 'ﺘ', 'ﻔ', 'ﺗ', '«', ' ', '(ﻢﻳ)']), '(يم) »تفتح«'],
    ['Hebrew in brackets', items(['(', 'שלום', ')', ' ', 'ספר']), 'ספר (שלום)'],
    ['several foreign words', items(['ﻲﻓ PDF 2.0 format ﻒﻠﻣ']), 'ملف PDF 2.0 format في'],
    ['an address', items(['a@b.org', ' ', 'ﺔﺒﺘﻜﻤﻟا']), 'المكتبة a@b.org'],
    [
      'several numbers',
      items(['456-123 47', '+', ' ', 'ﻢﻳ', ' ', '50', ' ', '60', ' ', 'ﻢﻳ']),
      'يم 60 50 يم +47 123-456',
    ],
    ['several numbers in Hebrew', items(['123-456 47', ' ', 'ספר']), 'ספר 47 123-456'],
    ['vowel marks', items(['ﺪ', ' \u064C', 'ﻤ']).map((item, at) => ({ ...item, x: [10, 9, 20][at] ?? 0 })), 'مدٌ'],
    ['a piece of letters and digits', items(['ﻢﻳ 12', ' ', 'ﻢﻳ']), 'يم 12 يم'],
    ['Latin text', items(['one ', 'two\n', 'three']), 'one two\nthree'],
  ])('is in the order of reading: %s', (_, page, text) => {
    expect(pageText(page)).toBe(text);
  });

  it.each([
    ['with a Latin end', ['Microsoft Office Professional', ' ', 'ﻊﻣ'], 'مع Microsoft Office Professional'],
    ['with a Latin beginning', ['ﻊﻣ', ' ', 'Microsoft Office Professional'], 'Microsoft Office Professional مع'],
    ['with Latin at both ends', ['Microsoft', ' ', 'ﺔﺒﺘﻜﻣ', ' ', 'Word'], 'Word مكتبة Microsoft'],
    ['of Latin around a word', ['means library', ' ', 'ﺔﺒﺘﻜﻣ', ' ', 'The word'], 'The word مكتبة means library'],
    ['of Latin only', ['The library', ' ', 'is open'], 'The library is open'],
  ])('is read from right to left in a line of an Arabic page: %s', (_, line, text) => {
    const arabic = Array(3).fill('ﺔﺒﺘﻜﻤﻟا ﺢﺘﻔﺗ ﻰﺘﻣ\n');
    expect(
      pageText(items([...arabic, ...line]))
        .split('\n')
        .slice(3),
    ).toEqual([text]);
  });

  it('keeps pieces from right to left that are already in order', () => {
    const page = items(['שלום', ' ', 'עולם']).map((item) => ({ ...item, x: -item.x }));
    expect(pageText(page)).toBe('שלום עולם');
  });

  it.each([
    [['Donau-\n', 'dampfschiff-\n', 'fahrt am\n', 'Morgen'], 'Donaudampfschifffahrt am\nMorgen'],
    [['hyphen\u2010\n', 'ated soft\u00ad\n', 'ly'], 'hyphenated softly'],
    [['Vor-\n', 'und Nachteile'], 'Vor-\nund Nachteile'],
    [['Nord-\n', 'Süd'], 'Nord-Süd'],
    [['well-known: it is well-\n', 'known'], 'well-known: it is well-known'],
    [['Donau- \n', ' dampf\u00ac\n', 'schiff'], 'Donaudampfschiff'],
    [['Ka\u0308se-\n', 'brot'], 'Ka\u0308sebrot'],
    [['state-of-\n', 'the-art, well-\n', 'known'], 'state-of-the-art, well-known'],
    [['user-\n', 'name@example.org'], 'user-name@example.org'],
    [['https://example.org/long-\n', 'path/file'], 'https://example.org/long-path/file'],
    [['Haus-\n', 'sowie Gartenarbeit'], 'Haus-\nsowie Gartenarbeit'],
    [['pages 3-\n', '5 and a -\n', 'dash'], 'pages 3-\n5 and a -\ndash'],
  ])('has whole words: %j', (lines, text) => {
    expect(pageText(items(lines))).toBe(text);
  });

  it('has whole words if the hyphen is a piece of its own, without a gap', () => {
    const [word, hyphen, rest] = items(['Donau', ' -\n', 'dampf']);
    if (word === undefined || hyphen === undefined || rest === undefined) throw new Error('three pieces');
    expect(pageText([word, hyphen, rest])).toBe('Donaudampf');
    expect(pageText([word, { ...hyphen, x: 15 }, rest])).toBe('Donau -\ndampf');
  });
});

describe('the paragraphs of a PDF page', () => {
  const page = (lines: readonly (readonly [text: string, y: number])[]) =>
    lines.map(([str, y]) => ({ str, x: 0, y, width: 100, fontSize: 12, hasEOL: true }));

  it.each([
    [
      'larger gaps',
      page([
        ['One', 700],
        ['two.', 686],
        ['Three', 664],
        ['four.', 650],
      ]),
      'One\ntwo.\n\nThree\nfour.',
    ],
    [
      'a gap after each sentence',
      page([
        ['One.', 700],
        ['Two.', 670],
      ]),
      'One.\n\nTwo.',
    ],
    [
      'no larger gap',
      page([
        ['One', 700],
        ['two', 686],
        ['three', 672],
      ]),
      'One\ntwo\nthree',
    ],
    [
      'a divided word',
      page([
        ['One', 700],
        ['wo-', 686],
        ['rd', 660],
      ]),
      'One\nword',
    ],
    [
      'the top of a second column',
      page([
        ['One', 700],
        ['two', 686],
        ['Three', 700],
      ]),
      'One\ntwo\nThree',
    ],
  ])('are separated by %s', (_, items, text) => {
    expect(pageText(items)).toBe(text);
  });
});
