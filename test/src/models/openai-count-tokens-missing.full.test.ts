import { expect, it, vi } from 'vitest';
import { createContextMeasurer } from '../../../src/chain/runtime/context-measures.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { aMessage } from '../../support/contract-samples.ts';

vi.mock('gpt-tokenizer/encoding/o200k_base', () => {
  throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
});

it('estimates tokens without gpt-tokenizer, and names the package to install [U10]', async () => {
  const model = openaiModel({ model: 'gpt-4o', apiKey: 'k' });
  await expect(model.countTokens(['abc'])).rejects.toMatchObject({ code: 'package_missing' });
  const input = { request: 'r', messages: [aMessage({ content: '12345' })] };
  expect(await createContextMeasurer(model, null)(input, new AbortController().signal)).toMatchObject({
    tokens: [2],
    estimated: true,
    failure: expect.stringMatching(/^tokens are estimated: [^\n]+run: npm install gpt-tokenizer$/),
  });
});
