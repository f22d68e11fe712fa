/** A piece of text in a PDF, as the package `unpdf` finds it. */
export interface PdfItem {
  readonly str: string;
  readonly x: number;
  readonly width: number;
  readonly fontSize: number;
  readonly hasEOL: boolean;
}

/** Returns the text of a page in reading order, with hyphenated words joined. */
export function pageText(items: readonly PdfItem[]): string {
  const lines: string[] = [];
  let line: PdfItem[] = [];
  for (const [at, item] of items.entries()) {
    line.push(item);
    if (!item.hasEOL && at < items.length - 1) continue;
    lines.push(lineText(line));
    line = [];
  }
  return withoutHyphenation(lines.join('\n'));
}

const RTL = /[\p{scx=Hebrew}\p{scx=Arabic}\p{scx=Syriac}\p{scx=Thaana}]/u;
/** Numbers are left to right, too, but do not make their line left to right. */
const LTR = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})[\p{L}\p{N}]/u;
/** Arabic letters in the form of their place in the word. Their order in a PDF is that on the page, from left to right. */
const SHAPED = /[\uFB50-\uFDFF\uFE70-\uFEFC]/u;
const LETTER = /(?!\p{scx=Hebrew}|\p{scx=Arabic}|\p{scx=Syriac}|\p{scx=Thaana})\p{L}/u;
/** The share of the font size that is certainly narrower than a space. */
const NO_SPACE = 0.15;

/** Text from right to left consists of pieces that are in the order of the page. */
function lineText(items: readonly PdfItem[]): string {
  const pieces = items.map(({ str, x, fontSize }, at) => {
    const before = items[at - 1];
    const isHyphen = /^ [-\u2010]$/.test(str) && before !== undefined;
    return isHyphen && x - before.x - before.width < NO_SPACE * fontSize ? str.trim() : logical(str);
  });
  if (!pieces.some((piece) => RTL.test(piece)) || !isLeftToRight(items)) return pieces.join('');
  const count = (pattern: RegExp): number => (pieces.join('').match(new RegExp(pattern, 'gu')) ?? []).length;
  if (count(RTL) < count(LETTER)) return runsReversed(pieces, RTL, LTR).join('');
  return runsReversed([...pieces].reverse(), LTR, RTL).join('');
}

const isLeftToRight = (items: readonly PdfItem[]): boolean =>
  items.every(({ x, str }, at) => str === '' || at === 0 || x >= (items[at - 1]?.x ?? x));

/** Reverses the order within each run of pieces that begins and ends with `inner` and has no `outer`. */
function runsReversed(pieces: readonly string[], inner: RegExp, outer: RegExp): string[] {
  const ordered: string[] = [];
  for (let from = 0; from < pieces.length; ) {
    const isInner = (at: number): boolean => inner.test(pieces[at] ?? '') && !outer.test(pieces[at] ?? '');
    let end = from;
    if (isInner(from))
      for (let at = from; at < pieces.length && !outer.test(pieces[at] ?? ''); at += 1) if (isInner(at)) end = at;
    ordered.push(...pieces.slice(from, end + 1).reverse());
    from = end + 1;
  }
  return ordered;
}

/** Returns shaped Arabic as plain letters in the order of reading; other text as it is. */
function logical(text: string): string {
  if (!SHAPED.test(text)) return text;
  const reversed = [...text].reverse().join('');
  return reversed
    .replace(/[\p{Script=Latin}\p{N}]+(?:[.,:/][\p{Script=Latin}\p{N}]+)*/gu, (run) => [...run].reverse().join(''))
    .normalize('NFKC');
}

/** A hyphen at the end of a line, and what continues the word; "pre- and postwar" is not divided. */
const DIVIDED = /(\p{L}+)[-\u2010\u00AD]\n(?!(?:and|or|to|und|oder|bis|bzw|et|ou|y|o|e|en|of)\b)(\p{L}+)/gu;

/** Puts divided words together. The hyphen stays before a capital, and in words that the page has with it elsewhere. */
function withoutHyphenation(text: string): string {
  const hyphenated = new Set(text.match(/\p{L}+-\p{L}+/gu));
  const join = (_: string, before: string, after: string): string => {
    const isCompound = /^\p{Lu}/u.test(after) || hyphenated.has(`${before}-${after}`);
    return `${before}${isCompound ? '-' : ''}${after}`;
  };
  return text.replace(DIVIDED, join).replace(DIVIDED, join);
}
