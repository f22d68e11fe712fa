/** Characters without a glyph of their own, or that look like a space. */
const INVISIBLE = /[^\P{C}\n]|[\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Z} ]/gu;

/** Returns JSON in which invisible characters are escaped, so that a person can see everything that it contains. */
export function safeJson(value: unknown, indent = 0): string {
  return (JSON.stringify(value, null, indent) ?? '').replaceAll(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
