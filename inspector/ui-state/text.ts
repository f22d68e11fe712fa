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
  const said = text.trim();
  const line = visible(said.slice(0, chars * 2).replace(/\s+/gu, ' ')).trim();
  if (line.length <= chars && said.length <= chars * 2) return line;
  return `${line.slice(0, chars - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
