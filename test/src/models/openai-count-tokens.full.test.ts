import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';

const loaded = vi.hoisted(() => [] as string[]);

/** Small tokenizers that record when they are loaded; only the newer one has a token of three letters. */
const tokenizer = (name: string, token: RegExp) => {
  loaded.push(name);
  return { countTokens: (text: string) => text.match(token)?.length ?? 0, clearMergeCache: () => {} };
};
vi.mock('gpt-tokenizer/encoding/o200k_base', () => tokenizer('o200k_base', /abc|ab|[abc]/g));
vi.mock('gpt-tokenizer/encoding/cl100k_base', () => tokenizer('cl100k_base', /ab|[abc]/g));

const model = (name: string) => openaiModel({ model: name, apiKey: 'sk-test-1234567890' });

describe('the openai model, counting tokens', () => {
  beforeEach(() => {
    loaded.length = 0;
  });

  it('loads a vocabulary on first use, and only that of the model [U10]', async () => {
    const newer = model('gpt-4o-mini');
    expect(loaded).toEqual([]);
    expect(await newer.countTokens(['abc', 'ca'])).toEqual([1, 2]);
    expect(await newer.countTokens(['ab'])).toEqual([1]);
    expect(loaded).toEqual(['o200k_base']);
    expect(await model('gpt-4').countTokens(['abc', 'ca'])).toEqual([2, 2]);
    expect(loaded).toEqual(['o200k_base', 'cl100k_base']);
  });
});
