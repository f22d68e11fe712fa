import { expect, test, vi } from 'vitest';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';

vi.mock('@opentelemetry/api', () => {
  throw Object.assign(new Error("Cannot find package '@opentelemetry/api'"), { code: 'ERR_MODULE_NOT_FOUND' });
});

test('postchain/otel can be imported without its package; traceRun names the package to install', async () => {
  await expect(traceRun([])).rejects.toMatchObject({
    code: 'package_missing',
    message:
      'traceRun requires the package "@opentelemetry/api", which is not installed; run: npm install @opentelemetry/api',
  });
});
