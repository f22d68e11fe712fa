import { jsString } from '../../../machines/text/quoting.ts';

export const PROFILES = ['thorough', 'balanced', 'lean'];

/** The ranges of the sliders. */
export const RANGES = {
  confidence: { min: 0, max: 1, step: 0.05 },
  grounding: { min: 0, max: 1, step: 0.05 },
  maxCycles: { min: 1, max: 10, step: 1 },
};

export const DEFAULTS = {
  text: 'The library opens at nine, and at eleven on Sundays.\n\nIt closes at five, and at eight on Thursdays.',
  request: 'When does the library open on Sundays?',
  profile: 'balanced',
  confidence: 0.9,
  grounding: 0.5,
  maxCycles: 5,
};
export type Settings = typeof DEFAULTS;

const isText = (value: unknown): boolean => typeof value === 'string';
const inRange =
  ({ min, max, step }: (typeof RANGES)[keyof typeof RANGES]) =>
  (value: unknown): boolean =>
    typeof value === 'number' && value >= min && value <= max && (step < 1 || Number.isInteger(value));

const VALID: Readonly<Record<keyof Settings, (value: unknown) => boolean>> = {
  text: isText,
  request: isText,
  profile: (value) => PROFILES.includes(value as string),
  confidence: inRange(RANGES.confidence),
  grounding: inRange(RANGES.grounding),
  maxCycles: inRange(RANGES.maxCycles),
};

/** Returns the valid settings in the hash of an address, which may come from anyone. Throws if it is not JSON. */
export function sharedSettings(hash: string): Partial<Settings> {
  const shared: unknown = Object(JSON.parse(decodeURIComponent(hash.slice(1) || '%7B%7D')));
  return Object.fromEntries(
    Object.entries(shared as object).filter(
      ([name, value]) => Object.hasOwn(VALID, name) && VALID[name as keyof Settings](value),
    ),
  );
}

export const hashOf = (settings: Settings): string => `#${encodeURIComponent(JSON.stringify(settings))}`;

/** Returns a program that does the same as the page. */
export function programOf(settings: Settings, { baseURL, model }: { baseURL: string; model: string }): string {
  const { profile, confidence, grounding, maxCycles, request, text } = settings;
  const isRemote = baseURL !== '';
  return `import { createPassageIndex, createPostChain } from 'postchain';
${isRemote ? "import { openaiModel } from 'postchain/openai';\n" : ''}
const documents = createPassageIndex([{ path: 'your-text.md', text: ${jsString(text)} }]);
const chain = createPostChain({
${isRemote ? `  model: openaiModel({ model: ${jsString(model)}, baseURL: ${jsString(baseURL)} }),\n` : ''}  documents,
  profile: ${jsString(profile)},
  thresholds: { confidence: ${Number(confidence)}, grounding: ${Number(grounding)} },
  limits: { maxCycles: ${Number(maxCycles)} },
});
const { answerText, status, reasons } = await chain.run({ request: ${jsString(request)} }).answer;
console.log(status, reasons, answerText);
`;
}
