/** Characters that JSON writes with a letter behind a backslash. */
const LETTERS: Readonly<Record<string, string>> = { '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' };

/**
 * The source of an expression that finds a text as it stands, and as it stands in JSON that is text itself, as the replies of models are:
 * `"` is `\"` there, and `ü` may be `\u00fc`; in JSON that stands in JSON the backslashes are more.
 */
export function escapedVariants(text: string): string {
  return Array.from(text, writingsOf).join('');
}

function writingsOf(character: string): string {
  const plain = character.replace(/[.*+?^${}()|[\]\\/]/u, '\\$&');
  if (character === '\\') return '(?:\\\\+(?:u005[cC])?)';
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const escaped = units.map(
    (unit) => `\\\\+u${unit.replace(/[a-f]/gu, (digit) => `[${digit}${digit.toUpperCase()}]`)}`,
  );
  const letter = LETTERS[character];
  const behind = letter === undefined ? [] : [`\\\\+${letter}`];
  const before = character === '"' || character === '/' ? '\\\\*' : '';
  return `(?:${[`${before}${plain}`, escaped.join(''), ...behind].join('|')})`;
}
