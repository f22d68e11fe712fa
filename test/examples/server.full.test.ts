import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { followRun, startRun } from '../../src/react/run-client.ts';
import { temporaryFolder } from '../support/cli.ts';

it('the server example answers from docs/ on the loopback interface, and stops on a signal', async () => {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  const before = signals.flatMap((signal) => process.listeners(signal));
  vi.stubEnv('PORT', '0')
    .stubEnv('TOKEN', 'a-long-secret-token')
    .stubEnv('JOURNALS', join(temporaryFolder(), 'journals'));
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  const ended = import('../../examples/server/main.ts');
  await expect.poll(() => print.mock.calls.length).toBeGreaterThan(0);
  const url = String(print.mock.calls[0]?.[0]);
  print.mockRestore();
  vi.unstubAllEnvs();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const server = { url, token: 'a-long-secret-token' };
  const runId = await startRun(server, { request: 'What does the Yield phase decide?' });
  const answers: unknown[] = [];
  for await (const { view } of followRun(() => server, runId, new AbortController().signal))
    if (view.answer !== null) answers.push(view.answer.status);
  expect(answers).toEqual(['completed']);
  for (const stop of process.listeners('SIGTERM')) if (!before.includes(stop)) stop('SIGTERM');
  await ended;
  await expect(fetch(`${url}/healthz`)).rejects.toThrow();
});
