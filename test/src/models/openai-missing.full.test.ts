import { expect, test, vi } from 'vitest';
import { openaiModel } from '../../../src/models/openai/openai-model.ts';
import { failureFrom } from '../../support/model-streams.ts';

vi.mock('openai', () => {
  throw Object.assign(new Error("Cannot find package 'openai'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

test('creates a model without the openai package; its first call names the package to install', async () => {
  const model = openaiModel({ model: 'm', apiKey: 'k' });
  expect(await failureFrom(model)).toMatchObject({
    stage: 'unexpected',
    code: 'client_missing',
    retryable: false,
    message: expect.stringContaining('npm install openai'),
  });
  expect(await model.checkKey({ signal: new AbortController().signal })).toBeNull();
});
