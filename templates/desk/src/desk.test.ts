import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPassageIndex } from 'postchain';
import { createDurableMachine, memoryJournals } from 'postchain/durable';
import type { RunView } from 'postchain/server';
import { expect, it, onTestFinished } from 'vitest';
import { createAgent } from './agent.machine.ts';
import { demoModel } from './demo-model.ts';
import { createDesk } from './desk.ts';
import { createShop } from './tools.ts';

const TOKEN = 'a-token-of-this-test';

it('asks in the chat before it refunds an order, over HTTP', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'desk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const orders = join(folder, 'orders.json');
  copyFileSync('orders.json', orders);
  const agent = createAgent({ model: demoModel, shop: createShop(orders), documents: createPassageIndex([]) });
  const desk = await createDesk(createDurableMachine(agent, { journals: memoryJournals() }), TOKEN);
  const request = (path: string, body?: object, token = TOKEN) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return desk.fetch(
      new Request(
        `http://localhost${path}`,
        body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers },
      ),
    );
  };
  expect(await (await request('/')).text()).toContain('<title>Support</title>');
  expect((await request('/runs', { agent: 'support', request: 'Hello' }, 'a-token-of-a-stranger')).status).toBe(401);

  const started = await request('/runs', { agent: 'support', request: 'Please refund order A7.' });
  const run = `/runs/${((await started.json()) as { runId: string }).runId}`;
  const view = async () => (await (await request(run)).json()) as RunView;
  await expect.poll(async () => (await view()).questions.length).toBe(1);
  expect(readFileSync(orders, 'utf8')).toContain('"refundKey": null');
  const [question] = (await view()).questions;
  const { questionId, digest } = question as Extract<typeof question, { kind: 'approval' }>;
  await request(`${run}/events`, { type: 'approval.given', questionId, digest, decision: 'approve' });
  await expect.poll(async () => (await view()).answer?.answerText).toBe('Refunded 80 euros for order A7.');
  expect(JSON.parse(readFileSync(orders, 'utf8'))[0].refundKey).toEqual(expect.any(String));
  await desk.close();
});
