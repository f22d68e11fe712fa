/**
 * Text from a model or a document made safe to print: control characters (with them every terminal escape sequence) and the
 * characters that turn the direction of text are left out; line ends and tabs stay.
 */
export function printable(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
  );
}

/** The same on one line. */
export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** The beginning of a text in at most so many characters, with an ellipsis where it was cut, and no half of a character. */
export function cutEnd(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, Math.max(0, chars - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** The same with the end of a text: of a path, it says more. */
export function cutStart(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `…${text.slice(text.length - Math.max(0, chars - 1)).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** A number with its thousands apart. */
export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

export function count(number: number, noun: string): string {
  return `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
}
