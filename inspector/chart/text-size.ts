/**
 * Sizes of text at scale 1, in pixels. Text is laid out before there is a page to measure it in: widths are estimated, on the wide side, for
 * the fonts of `--font`.
 */
export const FONT = { title: 28, name: 18, note: 9.5, chip: 9.5, label: 9 } as const;

const NARROW = /[ijlftr.,:;'|!()[\]\- ]/;
const WIDE = /[mwMW@%→…]/;

/** The width of a text of a font size, estimated. What is no Latin letter counts as a whole em. */
export function widthOf(text: string, size: number): number {
  let ems = 0;
  for (const character of text) ems += emsOf(character);
  return Math.ceil(ems * size);
}

function emsOf(character: string): number {
  if (NARROW.test(character)) return 0.37;
  if (WIDE.test(character)) return 0.92;
  if (character >= 'A' && character <= 'Z') return 0.68;
  return character <= '\u024f' ? 0.6 : 1.05;
}

/** The text with what cannot be seen made visible, and not longer than `most` characters. */
export function shownText(text: string, most: number): string {
  const characters = [...text.slice(0, most * 4)];
  const cut = characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : characters.join('');
  return cut.replace(
    UNSEEN,
    (character) => `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** Control and format characters, those that turn the direction of a text among them, and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
