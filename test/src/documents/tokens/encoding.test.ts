import { describe, expect, it } from 'vitest';
import { encodingOf } from '../../../../src/documents/tokens/encoding.ts';

describe('the vocabulary of a model', () => {
  it.each([
    'gpt-4',
    'gpt-4-0613',
    'gpt-4-32k',
    'gpt-4-turbo-2024-04-09',
    'gpt-3.5-turbo',
    'gpt-35-turbo-16k',
    'GPT-4',
    'openai/gpt-4-turbo',
    'ft:gpt-3.5-turbo-0125:acme::abc123',
  ])('is the older one for %s [U10]', (model) => {
    expect(encodingOf(model)).toBe('cl100k_base');
  });

  it.each([
    'gpt-4o',
    'gpt-4o-mini',
    'gpt-4.1-nano',
    'gpt-4.5-preview',
    'gpt-5',
    'gpt-5.1-codex',
    'gpt-41',
    'chatgpt-4o-latest',
    'o1',
    'o3-mini',
    'o4-mini',
    'openai/gpt-oss-120b',
    'ft:gpt-4o-mini:acme::abc123',
  ])('is the newer one for %s [U10]', (model) => {
    expect(encodingOf(model)).toBe('o200k_base');
  });

  it.each(['llama3.2', 'qwen3:8b', 'claude-sonnet-4-5', 'my-gpt-4-like', 'a deployment'])(
    'is the newer one, as the nearest known, for %s [U10]',
    (model) => {
      expect(encodingOf(model)).toBe('o200k_base');
    },
  );
});
