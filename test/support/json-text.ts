import fc from 'fast-check';

/** White space as JSON allows it between tokens. */
const whitespace = fc
  .array(fc.constantFrom(' ', '\n', '\t', '\r'), { maxLength: 3 })
  .map((characters) => characters.join(''));

/** Whether a JSON value has a number of which the text may have more digits than the number. */
export function hasLongNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return typeof value === 'object' && value !== null && Object.values(value).some(hasLongNumber);
}

/** Any JSON value, without numbers that would lose digits. */
export const jsonValue = (maxDepth: number): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth }).filter((value) => !hasLongNumber(value));

/** A JSON object, as models are asked for one. */
const jsonObject: fc.Arbitrary<unknown> = fc.dictionary(fc.string({ unit: 'binary' }), jsonValue(3), {
  minKeys: 1,
  maxKeys: 5,
  noNullPrototype: true,
});

/** Words without a brace or a fence. */
const proseArbitrary = fc.stringMatching(/^[a-zA-Z0-9 .,:"'\n\\-]{0,40}$/);

const fenceArbitrary = fc.constantFrom(['', ''], ['```json\n', '\n```'], ['```\n', '\n```'], ['~~~\n', '\n~~~']);

/** A JSON value with random white space in it, between fences and prose: the text, the JSON in it, and the value. */
export const wrappedJson = fc
  .tuple(
    jsonObject,
    fc.array(whitespace, { minLength: 1, maxLength: 8 }),
    proseArbitrary,
    proseArbitrary,
    fenceArbitrary,
  )
  .map(([value, gaps, before, after, [open = '', close = '']]) => {
    const json = spaced(value, gaps);
    return { value: JSON.parse(json) as unknown, json, text: `${before}${open}${json}${close}${after}` };
  });

/** Any JSON text, of any root, with random white space in it. */
export const spacedJson = fc
  .tuple(jsonValue(4), fc.array(whitespace, { minLength: 1, maxLength: 8 }), whitespace, whitespace)
  .map(([value, gaps, before, after]) => before + spaced(value, gaps) + after);

/** Serialises with the given gaps, in turn, between tokens. */
function spaced(root: unknown, gaps: readonly string[]): string {
  let at = 0;
  const next = (): string => gaps[at++ % gaps.length] ?? '';
  const write = (value: unknown): string => {
    if (Array.isArray(value)) return `[${next()}${value.map(write).join(`,${next()}`)}${next()}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}${next()}:${next()}${write(one)}`);
    return `{${next()}${members.join(`${next()},`)}${next()}}`;
  };
  return write(root);
}

/** A text cut into pieces at these places, taken modulo its length. */
export function splitAt(text: string, places: readonly number[]): readonly string[] {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => text.slice(from, cuts[index] ?? text.length));
}
