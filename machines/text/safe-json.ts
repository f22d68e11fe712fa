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

/** Matches half of a surrogate pair without the other half. */
const UNPAIRED = /\p{Surrogate}/gu;

/**
 * Returns a JSON value in which U+FFFD replaces every unpaired surrogate, in texts and names. Models may write one (`"\ud83d"`), and many
 * servers reject a request that contains one.
 */
export function wellFormed<Json>(json: Json): Json {
  if (typeof json === 'string') return json.replace(UNPAIRED, '\ufffd') as Json & string;
  if (Array.isArray(json)) return json.map(wellFormed) as Json & unknown[];
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(wellFormed)) as Json;
}
