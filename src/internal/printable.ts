/** Control characters, with them every terminal escape sequence, and the marks that turn the direction of text. Line ends and tabs are none. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Text from a model or a document made safe to print: what is unprintable is left out; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(UNPRINTABLE, '');
}

/** JSON made safe to print: what is unprintable stands in it as `\uXXXX`, so that it is read as it was. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Printable text on one line. */
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

export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${grouped(number)} ${number === 1 ? noun : nouns}`;
}

/** Returns the first line of a thrown error's message, or of the thrown value as text. */
export const firstLineOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
