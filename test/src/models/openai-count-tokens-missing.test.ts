import { expect, it, vi } from 'vitest';
import { createContextMeasurer } from '../../../src/engine/runtime/context-measures.ts';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { aMessage } from '../../machines/contracts/samples.ts';

vi.mock('gpt-tokenizer/encoding/o200k_base', () => {
  throw new Error('no such file');
});

it('a vocabulary that cannot be loaded breaks no run: the tokens are estimated, which is told [U10]', async () => {
  const model = openaiModel({ model: 'gpt-4o', apiKey: 'k' });
  await expect(model.countTokens(['abc'])).rejects.toThrow();
  const input = { request: 'r', messages: [aMessage({ content: '12345' })] };
  expect(await createContextMeasurer(model, null)(input, new AbortController().signal)).toMatchObject({
    tokens: [2],
    estimated: true,
    failure: expect.stringMatching(/^tokens are estimated: [^\n]+$/),
  });
});
