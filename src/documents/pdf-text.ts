import { withoutHyphenation } from './divided-words.ts';
import { inColumns, type PdfItem } from './pdf-columns.ts';

/** A gap between lines that is larger than the smallest by this factor, or than the font after a sentence, is between paragraphs. */
const [GAP, SENTENCE_GAP] = [1.25, 1.6];

/** Returns whether a paragraph ends before each line, by the gaps between lines. */
function paragraphStarts(lines: readonly (readonly PdfItem[])[]): readonly boolean[] {
  const places = lines.map((line) => line.find(({ str }) => str.trim() !== ''));
  const gaps = places.map((place, at) => (places[at - 1]?.y ?? Number.NaN) - (place?.y ?? Number.NaN));
  const smallest = Math.min(...gaps.filter((gap, at) => gap > (places[at]?.fontSize ?? 0) / 2));
  return gaps.map((gap, at) => {
    const before =
      lines[at - 1]
        ?.map(({ str }) => str)
        .join('')
        .trimEnd() ?? '';
    if (/[-\u2010\u00AD\u00AC]$/u.test(before)) return false;
    return gap > GAP * smallest || (gap > SENTENCE_GAP * (places[at]?.fontSize ?? 0) && /[.!?。！？]$/u.test(before));
  });
}

/** Returns the text of a page in reading order, with hyphenated words joined and a blank line between paragraphs. */
export function pageText(items: readonly PdfItem[]): string {
  const isRightToLeft = latinMajority(items.map(({ str }) => str).join('')) < 0;
  const rows: PdfItem[][] = [];
  let line: PdfItem[] = [];
  for (const [at, item] of items.entries()) {
    line.push(item);
    if (!item.hasEOL && at < items.length - 1) continue;
    rows.push(line);
    line = [];
  }
  const lines = isRightToLeft ? rows : inColumns(rows);
  const starts = paragraphStarts(lines);
  const texts = lines.map((items, at) => `${starts[at] === true ? '\n' : ''}${lineText(items, isRightToLeft)}`);
  return withoutHyphenation(texts.join('\n'));
}

const RTL = /[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}]/u;
/** Numbers are left to right, too, but do not make their line left to right. */
const LTR = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})[\p{L}\p{N}]/u;
const LATIN = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})\p{L}/u;
/** Arabic letters in the form of their place in the word. Their order in a PDF is that on the page, from left to right. */
const SHAPED = /[\uFB50-\uFDFF\uFE70-\uFEFC]/u;
/** The share of the font size that is certainly narrower than a space. */
const NO_SPACE = 0.15;

/** Text from right to left consists of pieces that are in the order of the page. */
function lineText(items: readonly PdfItem[], isPageRightToLeft: boolean): string {
  const text = withHyphens(items).join('');
  if (!RTL.test(text) || !isLeftToRight(items)) return text;
  // A mark may come before or after its letter, and with a space that has no width.
  const pieces = items
    .filter(({ str, width, fontSize }) => str.trim() !== '' || width >= NO_SPACE * fontSize)
    .sort((one, other) => one.x - other.x)
    .map(({ str }) => logical(str));
  if (!isPageRightToLeft && isSentenceLeftToRight(text))
    return ordered(pieces, { first: RTL, last: RTL, outer: LTR }, (piece, isInRun) =>
      isInRun ? fromRight(piece, text) : piece,
    );
  return ordered(pieces.reverse(), { first: LTR, last: LATIN, outer: RTL }, (piece, isInRun) =>
    isInRun ? piece : fromRight(piece, text),
  );
}

/** A hyphen may be a piece of its own that begins with a space, which the page does not show. */
function withHyphens(items: readonly PdfItem[]): string[] {
  return items.map(({ str, x, fontSize }, at) => {
    const before = items[at - 1];
    const isHyphen = /^ [-\u2010]$/.test(str) && before !== undefined;
    return isHyphen && x - before.x - before.width < NO_SPACE * fontSize ? str.trim() : logical(str);
  });
}

/** Marks are not in order, because they are placed over their letter. */
function isLeftToRight(items: readonly PdfItem[]): boolean {
  const places = items.filter(({ str }) => /\p{L}/u.test(str)).map(({ x }) => x);
  const steps = places.slice(1).map((x, at) => Math.sign(x - (places[at] ?? x)));
  return steps.reduce((sum, step) => sum + step, 0) >= 0;
}

/** Whether a line is read from left to right: it has Latin letters at both ends, or at one end and in the majority. */
function isSentenceLeftToRight(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? [];
  const [first = '', last = ''] = [letters[0], letters.at(-1)];
  const ends = Number(RTL.test(first)) + Number(RTL.test(last));
  return ends === 0 || (ends === 1 && latinMajority(text) > 0);
}

/** By how many letters text from left to right exceeds text from right to left. */
function latinMajority(text: string): number {
  return [...text.matchAll(/\p{L}/gu)].reduce((sum, [letter]) => sum + (RTL.test(letter) ? -1 : 1), 0);
}

interface Run {
  readonly first: RegExp;
  readonly last: RegExp;
  /** Ends the run. */
  readonly outer: RegExp;
}

/** Reverses the order of the pieces of each run, from one that matches `first` to the last one that matches `last`. */
function ordered(
  pieces: readonly string[],
  { first, last, outer }: Run,
  shown: (piece: string, isInRun: boolean) => string,
): string {
  const result: string[] = [];
  for (let from = 0; from < pieces.length; ) {
    let [stop, end] = [from + 1, -1];
    if (first.test(pieces[from] ?? ''))
      for (stop = from; stop < pieces.length && !outer.test(pieces[stop] ?? ''); stop += 1)
        if (last.test(pieces[stop] ?? '')) end = stop;
    // Without an end, no run begins before `stop`.
    const run = end === -1 ? pieces.slice(from, Math.max(stop, from + 1)) : pieces.slice(from, end + 1).reverse();
    for (const piece of run) result.push(shown(piece, end !== -1));
    from += run.length;
  }
  return result.join('');
}

const MIRRORED = new Map(
  [...'()[]{}<>«»‹›'].map((sign, at, all) => [sign, all[at % 2 === 0 ? at + 1 : at - 1] ?? sign]),
);
const mirrored = (text: string): string => text.replace(/[()[\]{}<>«»‹›]/g, (sign) => MIRRORED.get(sign) ?? sign);

/** Returns a piece of right-to-left text. If it has no letters, brackets are mirrored and the order of several numbers is reversed. */
function fromRight(piece: string, line: string): string {
  if (/\p{L}/u.test(piece)) return piece;
  const numbers = /\p{scx=Arabic}/u.test(line)
    ? /\p{N}+(?:[.,:/]\p{N}+)*|\P{N}/gu
    : /\p{N}+(?:[.,:/+-]\p{N}+)*%?|\P{N}/gu;
  const parts = piece.match(numbers) ?? [];
  const isSeveral = parts.filter((part) => /\p{N}/u.test(part)).length > 1;
  return mirrored(isSeveral ? parts.reverse().join('') : piece);
}

/** Letters in the form for the start of a word, which joins them to the next letter. */
const INITIAL = 'ﺋﺑﺗﺛﺟﺣﺧﺳﺷﺻﺿﻃﻇﻋﻏﻓﻗﻛﻟﻣﻧﻫﻳ';
const JOINED = '[\\uFE80-\\uFEFC]';
const count = (text: string, pattern: string): number => (text.match(new RegExp(pattern, 'gu')) ?? []).length;

/** A left-to-right run of words and numbers, which is reversed together with the text around it. */
const REVERSED_RUN =
  /[\p{Script=Latin}\p{N}](?:[^\p{scx=Arabic}\p{scx=Hebrew}\uFB50-\uFEFC]{0,200}\p{Script=Latin}|(?:[.,:/]?\p{N})*)/gu;

/** Vowel marks may be shaped as if over a space. */
const SPACED_MARK = / (?=\p{M})/gu;

/** Returns shaped Arabic as plain letters in the order of reading; other text as it is. */
function logical(given: string): string {
  const text = given.replace(/[^\P{Cc}\t]/gu, '').replace(SPACED_MARK, '');
  if (!SHAPED.test(text)) return text;
  const isLogical = count(text, `[${INITIAL}]${JOINED}`) > count(text, `${JOINED}[${INITIAL}]`);
  const reverse = (run: string): string => mirrored([...run].reverse().join(''));
  const inOrder = isLogical ? text : reverse(text).replace(REVERSED_RUN, reverse);
  return inOrder.normalize('NFKC').replace(SPACED_MARK, '');
}
