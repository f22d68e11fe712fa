import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { remoteActor, startActor } from '../../src/react/remote-actor.ts';
import { followRun, startRun } from '../../src/react/run-client.ts';
import { temporaryFolder } from '../support/cli.ts';
import { freePort } from '../support/servers.ts';

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

it('the example of durable machines takes an order, and shows only its view', async () => {
  const port = await freePort();
  vi.stubEnv('PORT', `${port}`).stubEnv('TOKEN', 'a-long-secret-token').stubEnv('JOURNALS', temporaryFolder());
  const before = process.listeners('SIGTERM');
  await import('../../examples/server/machines.ts');
  vi.unstubAllEnvs();
  const server = { url: `http://127.0.0.1:${port}`, token: 'a-long-secret-token' };
  await expect(startActor(server, 'order', {})).rejects.toMatchObject({ code: 'invalid_request' });
  const order = remoteActor(server, 'order', await startActor(server, 'order', { note: 'ring twice' }));
  order.subscribe(() => {});
  await order.send({ type: 'ADD', item: 'book' });
  await order.send({ type: 'ORDER' });
  await expect.poll(() => order.getSnapshot()?.context).toEqual({ items: ['book'] });
  await expect.poll(() => order.getSnapshot()?.pending.approvals).toMatchObject([{ question: ['book'] }]);
  const [asked = expect.unreachable()] = order.getSnapshot()?.pending.approvals ?? [];
  await order.answer(asked, { decision: 'approve' });
  await expect.poll(() => order.getSnapshot()?.status).toBe('done');
  for (const stop of process.listeners('SIGTERM')) if (!before.includes(stop)) stop('SIGTERM');
});
