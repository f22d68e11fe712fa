import { expect, it } from 'vitest';
import { limitsSchema } from '../../../../machines/contracts/limits.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { chatServer, chunk, event, streaming } from '../../../support/chat-server.ts';
import { entriesOf } from '../../../support/run-chain.ts';

it('[C8] a real server that accepts connections and never replies ends a run after two calls', async () => {
  const server = await chatServer(() => {});
  // The default limits, 25 times shorter: a busy machine needs its time to start a call.
  const inMs = Object.entries(limitsSchema.parse({})).flatMap(([name, ms]) =>
    name.endsWith('Ms') && typeof ms === 'number' ? [[name, ms] as const] : [],
  );
  const limits = Object.fromEntries(inMs.map(([name, ms]) => [name, ms / 25]));
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
  const run = createPostChain({ model, limits }).run({ request: 'Is it so?' });
  expect(await run.answer).toMatchObject({
    status: 'degraded',
    metadata: { reason: 'model_unavailable', budget: { modelCalls: { used: 2 } } },
  });
  expect(server.exchanges.length).toBeLessThanOrEqual(2);
  expect(entriesOf(run, 'model-status')).toMatchObject([{ model: 0, change: 'unavailable' }]);
  await server.allClosed();
});

it('[C8] a real server whose replies outlast the phases fails the phases, and does not count as hanging', async () => {
  const server = await chatServer(({ response }) => {
    const stream = streaming(response);
    const send = (): void => void stream.write(event(chunk({ content: 'token ' })));
    send();
    const sending = setInterval(send, 100);
    const ending = setTimeout(() => stream.end(), 10_000);
    response.on('close', () => {
      clearInterval(sending);
      clearTimeout(ending);
    });
  });
  const model = openaiModel({ model: 'm', apiKey: 'k', baseURL: server.baseURL });
  const limits = { phaseMs: 1_000, synthesisReserveTokens: 0, maxPhaseRetries: 0 };
  const run = createPostChain({ model, limits, profile: 'thorough' }).run({ request: 'Is it so?' });
  const { status, metadata } = await run.answer;
  expect(status).toBe('degraded');
  expect(new Set(metadata.failures.map(({ failure }) => failure.code))).toEqual(new Set(['phase_deadline']));
  expect(entriesOf(run, 'model-status')).toEqual([]);
  expect(server.exchanges.length).toBeGreaterThan(2);
  await server.allClosed();
});
