import { limitsSchema, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import { jsString } from '../../../machines/text/quoting.ts';
import example from './playground-example.json' with { type: 'json' };

export const PROFILES = ['thorough', 'balanced', 'lean'];

/** The titles are those of the inspector. */
export const SLIDERS = {
  confidence: { title: 'Confidence to finish', help: 'A higher confidence ends the run.', min: 0, max: 1, step: 0.05 },
  sufficiency: { title: 'Information needed', help: 'With less, another cycle follows.', min: 0, max: 1, step: 0.05 },
  grounding: { title: 'Support needed', help: 'With less, the confidence is capped.', min: 0, max: 1, step: 0.05 },
  maxCycles: { title: 'Cycles allowed', help: 'After these, the run must answer.', min: 1, max: 10, step: 1 },
};

const { confidence, sufficiency, grounding } = thresholdsSchema.parse({});
const { maxCycles } = limitsSchema.parse({});
export const DEFAULTS = { ...example, profile: 'balanced', confidence, sufficiency, grounding, maxCycles };
export type Settings = typeof DEFAULTS;

const isText = (value: unknown): boolean => typeof value === 'string';
const inRange =
  ({ min, max, step }: (typeof SLIDERS)[keyof typeof SLIDERS]) =>
  (value: unknown): boolean =>
    typeof value === 'number' && value >= min && value <= max && (step < 1 || Number.isInteger(value));

const VALID: Readonly<Record<keyof Settings, (value: unknown) => boolean>> = {
  text: isText,
  request: isText,
  profile: (value) => PROFILES.includes(value as string),
  confidence: inRange(SLIDERS.confidence),
  sufficiency: inRange(SLIDERS.sufficiency),
  grounding: inRange(SLIDERS.grounding),
  maxCycles: inRange(SLIDERS.maxCycles),
};

/** Returns the valid settings in the hash of an address, which may come from anyone, and how many others it has. */
export function sharedSettings(hash: string): { readonly settings: Partial<Settings>; readonly ignored: number } {
  const shared = parsed(hash.slice(1));
  if (typeof shared !== 'object' || shared === null || Array.isArray(shared)) return { settings: {}, ignored: 1 };
  const all = Object.entries(shared);
  const valid = all.filter(([name, value]) => Object.hasOwn(VALID, name) && VALID[name as keyof Settings](value));
  return { settings: Object.fromEntries(valid), ignored: all.length - valid.length };
}

function parsed(text: string): unknown {
  if (text === '') return {};
  try {
    return JSON.parse(decodeURIComponent(text));
  } catch {
    return null;
  }
}

export const hashOf = (settings: Settings): string => `#${encodeURIComponent(JSON.stringify(settings))}`;

/** Returns a program that does the same as the page. */
export function programOf(settings: Settings, { baseURL, model }: { baseURL: string; model: string }): string {
  const { profile, request, text } = settings;
  const number = (name: keyof typeof SLIDERS): string => `${name}: ${Number(settings[name])}`;
  const isRemote = baseURL !== '';
  return `import { createPassageIndex, createPostChain } from 'postchain';
${isRemote ? "import { openaiModel } from 'postchain/openai';\n" : ''}
const documents = createPassageIndex([{ path: 'your-text.md', text: ${jsString(text)} }]);
const chain = createPostChain({
${isRemote ? `  model: openaiModel({ model: ${jsString(model)}, baseURL: ${jsString(baseURL)} }),\n` : ''}  documents,
  profile: ${jsString(profile)},
  thresholds: { ${number('confidence')}, ${number('sufficiency')}, ${number('grounding')} },
  limits: { ${number('maxCycles')} },
});
const { answerText, status, reasons } = await chain.run({ request: ${jsString(request)} }).answer;
console.log(status, reasons, answerText);
`;
}
