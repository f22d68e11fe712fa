/** Controls, and the marks that turn the direction of text or have no width: they would hide what stands there. Line ends and tabs are none. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** Text of a model or a document as it is: what would be hidden stands as `‹U+202E›`. */
export function visible(text: string): string {
  return text.replace(
    HIDDEN,
    (found) => `‹U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}

/** The same on one line, cut to so many characters. */
export function shortly(text: string, chars: number): string {
  const line = visible(text.slice(0, chars * 2).replace(/\s+/gu, ' ')).trim();
  return line.length <= chars ? line : `${line.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}

/** Milliseconds as people read them: `840 ms`, `12.4 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** With a tenth of a millisecond below a second, and with milliseconds beyond. */
export const preciseTime = (ms: number): string =>
  ms < 1_000 ? `${ms.toFixed(1)} ms` : `${(ms / 1_000).toFixed(3)} s`;

/** A number with three decimals at the most. */
export const rounded = (number: number): string => `${Math.round(number * 1_000) / 1_000}`;

export const grouped = (number: number): string => number.toLocaleString('en-US');

/** `1 token`, `2,300 tokens`. */
export const counted = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;
