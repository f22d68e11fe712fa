import { describe, expect, it } from 'vitest';
import { settingTitle } from '../../inspector/fold/what-if.ts';
import { limitsSchema, thresholdsSchema } from '../../machines/contracts/limits.ts';
import {
  DEFAULTS,
  hashOf,
  programOf,
  SLIDERS,
  sharedSettings,
} from '../../site/.vitepress/theme/playground-settings.ts';
import { NAUGHTY_STRINGS } from '../support/hostile-input.ts';

it('the playground starts with the defaults of the product', () => {
  const defaults = { ...limitsSchema.parse({}), ...thresholdsSchema.parse({}) };
  const { confidence, sufficiency, grounding, maxCycles } = DEFAULTS;
  expect(defaults).toMatchObject({ confidence, sufficiency, grounding, maxCycles });
});

it.each(Object.entries(SLIDERS))('%s has the same name in the playground and in the inspector', (name, { title }) => {
  expect(title).toBe(settingTitle(name === 'maxCycles' ? `limits.${name}` : `thresholds.${name}`));
});

const hash = (shared: unknown): string => `#${encodeURIComponent(JSON.stringify(shared))}`;

describe('a share link of the playground', () => {
  it('contains the settings', () => {
    const settings = { ...DEFAULTS, text: 'a', profile: 'lean', confidence: 0.35, maxCycles: 2 };
    expect(sharedSettings(hashOf(settings))).toEqual({ settings, ignored: 0 });
  });

  it.each([
    ['another profile', 1, { profile: "lean', ...(alert(1), {}), a: '" }],
    ['other types', 5, { text: 1, request: ['a'], profile: null, confidence: '0.5); alert(1', maxCycles: {} }],
    ['numbers out of range', 4, { confidence: 1.1, sufficiency: null, grounding: -0.1, maxCycles: 1.5 }],
    ['unknown settings', 4, { baseURL: 'https://elsewhere.example', key: 'a', constructor: 'b', toString: 'c' }],
    ['nothing in it', 0, {}],
    ['null', 1, null],
    ['a list', 1, ['profile']],
    ['a text', 1, 'profile'],
  ])('ignores %s, and counts %d', (_, ignored, shared) => {
    expect(sharedSettings(hash(shared))).toEqual({ settings: {}, ignored });
  });

  it.each(['#%', '#a', '#{"text":'])('ignores what is not JSON: %s', (text) => {
    expect(sharedSettings(text)).toEqual({ settings: {}, ignored: 1 });
  });

  it('keeps the valid settings beside invalid ones', () => {
    const shared = hash({ maxCycles: 2, confidence: '0.5); alert(1', profile: 'lean' });
    expect(sharedSettings(shared)).toEqual({ settings: { maxCycles: 2, profile: 'lean' }, ignored: 1 });
    expect(sharedSettings('')).toEqual({ settings: {}, ignored: 0 });
  });

  it.each(Object.values(NAUGHTY_STRINGS).flat())('never puts code into the copied program: %j', (text) => {
    const settings = { ...DEFAULTS, ...sharedSettings(hash({ text, request: `'${text}`, profile: text })).settings };
    const program = programOf(settings, { baseURL: `http://${text}`, model: text });
    const body = program
      .replace(/^import .*$/gmu, '')
      .replace('await', '')
      .replace('const {', 'var {');
    const seen: unknown[] = [];
    const run = ({ request }: { request: string }) => {
      seen.push(request);
      return { answer: {} };
    };
    new Function('createPassageIndex', 'createPostChain', 'openaiModel', 'console', body)(
      ([document]: [{ text: string }]) => seen.push(document.text),
      ({ profile }: { profile: string }) => {
        seen.push(profile);
        return { run };
      },
      (options: unknown) => seen.push(options),
      { log: () => {} },
    );
    expect(seen).toEqual([text, { model: text, baseURL: `http://${text}` }, 'balanced', `'${text}`]);
    expect(program).not.toMatch(/<[!/]|[^\P{C}\n]/u);
  });
});
