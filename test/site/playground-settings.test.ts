import { describe, expect, it } from 'vitest';
import { limitsSchema, thresholdsSchema } from '../../machines/contracts/limits.ts';
import { DEFAULTS, hashOf, programOf, sharedSettings } from '../../site/.vitepress/theme/playground-settings.ts';
import { NAUGHTY_STRINGS } from '../support/hostile-input.ts';

it('the playground starts with the defaults of the product', () => {
  const defaults = { ...limitsSchema.parse({}), ...thresholdsSchema.parse({}) };
  const { confidence, grounding, maxCycles } = DEFAULTS;
  expect(defaults).toMatchObject({ confidence, grounding, maxCycles });
});

const hash = (shared: unknown): string => `#${encodeURIComponent(JSON.stringify(shared))}`;

describe('a share link of the playground', () => {
  it('contains the settings', () => {
    const settings = { ...DEFAULTS, text: 'a', profile: 'lean', confidence: 0.35, maxCycles: 2 };
    expect(sharedSettings(hashOf(settings))).toEqual(settings);
  });

  it.each([
    ['another profile', { profile: "lean', ...(alert(1), {}), a: '" }],
    ['other types', { text: 1, request: ['a'], profile: null, confidence: '0.5); alert(1', maxCycles: {} }],
    ['numbers out of range', { confidence: 1.1, grounding: -0.1, maxCycles: 1.5 }],
    ['unknown settings', { baseURL: 'https://elsewhere.example', key: 'a', constructor: 'b', toString: 'c' }],
    ['not an object', null],
    ['text', 'profile'],
    ['nothing', undefined],
  ])('is ignored where it has %s', (_, shared) => {
    expect(sharedSettings(shared === undefined ? '' : hash(shared))).toEqual({});
  });

  it.each(Object.values(NAUGHTY_STRINGS).flat())('never puts code into the copied program: %j', (text) => {
    const settings = { ...DEFAULTS, ...sharedSettings(hash({ text, request: `'${text}`, profile: text })) };
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
