/** Control characters, which include every terminal escape sequence, and marks that change the direction of text; not line ends and tabs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Removes unprintable characters from the text of a model or a document; line ends and tabs stay. */
export function printable(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(UNPRINTABLE, '');
}

/** Escapes unprintable characters in JSON as `\uXXXX`, so that it parses to the same value. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function oneLine(text: string): string {
  return printable(text).replace(/\s+/g, ' ').trim();
}

/** Cuts a text to `chars` characters, with an ellipsis at its end; never splits a surrogate pair. */
export function cutEnd(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, Math.max(0, chars - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** Cuts a text to its last `chars` characters, with an ellipsis at its start: for paths. */
export function cutStart(text: string, chars: number): string {
  return text.length <= chars
    ? text
    : `…${text.slice(text.length - Math.max(0, chars - 1)).replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** Formats a number with thousands separators. */
export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

/** Formats a number with its noun: `1 cycle`, `2 cycles`. */
export function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${grouped(number)} ${number === 1 ? noun : nouns}`;
}

export const firstLineOf = (thrown: unknown): string =>
  thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown);
