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
