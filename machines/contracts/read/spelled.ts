const SHOWN_CHARS = 60;

/** What an input holds where nothing of it can be read. */
export const UNREADABLE = Symbol('what cannot be read');

/** A value in a few words, for a message of one line, whatever it is. */
export function describeReadValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return spelledText(value);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'what cannot be read';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return Array.isArray(value) ? `a list of ${value.length}` : 'an object';
  } catch {
    return 'what cannot be read';
  }
}

function spelledText(text: string): string {
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARS));
  return onOneLine(text.length > SHOWN_CHARS ? `${shown}…` : shown);
}

/** Characters that break or turn a line, as their escapes. */
export function onOneLine(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
}
