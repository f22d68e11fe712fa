/** A hyphen at the end of a line, and what continues the word; "pre- and postwar" is not divided. */
const DIVIDED =
  /(?<![\p{L}\p{M}])(\p{L}[\p{L}\p{M}]*)[-\u2010\u00AD\u00AC][ \t]*\n[ \t]*(?!(?:and|or|to|versus|vs|und|oder|bis|bzw|sowie|als|et|ou|y|o|e|en|of|og|och)\b)(\p{L}[\p{L}\p{M}]*)/gu;
const COMPOUND = /(?<!\p{L})\p{L}+[-\u2010]\p{L}+/gu;
/** Parts that are seldom parts of a divided word. */
const FIRST = /^(?:self|well|long|short|high|low|full|half|cross|non|ever|open|real|third|two|three)$/iu;
const LAST = /^(?:based|free|term|time|known|like|made|friendly|level|scale|wide|fast|house|aware)$/iu;

/** Returns the words of a text that have a hyphen within a line: they keep it at the end of a line. */
export const compoundsIn = (text: string): ReadonlySet<string> =>
  new Set((text.match(COMPOUND) ?? []).map((word) => word.replace('\u2010', '-').toLowerCase()));

/**
 * Puts words together that are divided at a line end. The hyphen stays before a capital, in words that the text has with it elsewhere or that have
 * others ("state-of-the-art"), and in addresses. A soft hyphen is never part of a word.
 */
export function withoutHyphenation(text: string, compounds: ReadonlySet<string> = compoundsIn(text)): string {
  const join = (divided: string, before: string, after: string, at: number, whole: string): string => {
    const end = at + divided.length;
    const [left, right] = [whole.slice(Math.max(0, at - 1), at), whole.slice(end, end + 2)];
    const isPart =
      /[-/@._]/.test(left) || /^(?:[-.]\p{L}|[/@_])/u.test(right) || FIRST.test(before) || LAST.test(after);
    const isCompound = isPart || /^\p{Lu}/u.test(after) || compounds.has(`${before}-${after}`.toLowerCase());
    return `${before}${isCompound && !divided.includes('\u00AD') ? '-' : ''}${after}`;
  };
  return text.replace(DIVIDED, join).replace(DIVIDED, join);
}

const UNSPACED =
  '[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}\\u3000-\\u303F\\uFF00-\\uFFEF]';
const ENDS_UNSPACED = new RegExp(`${UNSPACED}$`, 'u');
const STARTS_UNSPACED = new RegExp(`^${UNSPACED}`, 'u');
/** The characters beside a line end that a divided word may have. */
const WORD_CHARS = 100;

/** Returns two lines of a paragraph as one: with a space, unless they divide a word, or the script has no spaces. */
export function joinLines(before: string, after: string, compounds: ReadonlySet<string>): string {
  if (ENDS_UNSPACED.test(before) && STARTS_UNSPACED.test(after)) return before + after;
  if (/[\p{L}\p{N}][-\u2010]$/u.test(before) && /^\p{N}/u.test(after)) return before + after;
  if (!/[-\u2010\u00AD\u00AC]$/u.test(before)) return `${before} ${after}`;
  const at = Math.max(0, before.length - WORD_CHARS);
  const joined = withoutHyphenation(`${before.slice(at)}\n${after.slice(0, WORD_CHARS)}`, compounds);
  return before.slice(0, at) + joined.replace('\n', ' ') + after.slice(WORD_CHARS);
}

/** Returns the lines of a paragraph, title or cell as one line. */
export function unwrapped(lines: readonly string[], compounds?: ReadonlySet<string>): string {
  const known = compounds ?? compoundsIn(lines.join('\n'));
  return lines.reduce((text, line, at) => (at === 0 ? line : joinLines(text, line, known)), '');
}
