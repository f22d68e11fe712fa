import { memoryJournals } from 'postchain';
import type { RunView } from 'postchain/server';
import { replies, scriptedModel } from 'postchain/testing';
import { expect, it } from 'vitest';
import { createChat } from './chat.ts';

it.each(['approve', 'deny'] as const)('asks in the chat before it refunds an order: %s', async (decision) => {
  const refunded: string[] = [];
  const calls = [{ capability: 'refund_order', arguments: '{"order":"A7"}' }];
  const model = scriptedModel({}, { otherwise: { ...replies, action: { ...replies.action, calls } } });
  const chat = await createChat(model, memoryJournals(), (order) => `Refunded ${refunded.push(order)} order.`);
  const request = (path: string, body?: object) => {
    const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return chat.fetch(new Request(`http://localhost${path}`, body && post));
  };

  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Refund order A7.' }] };
  const { headers } = await request('/api/chat', { id: 'c1', messages: [message] });
  const run = `/runs/${headers.get('x-workflow-run-id')}`;
  const view = async () => (await (await request(run)).json()) as RunView;
  await expect.poll(async () => (await view()).status).toBe('waiting');
  expect(refunded).toEqual([]);

  const [question] = (await view()).questions;
  const { questionId, digest } = question as Extract<typeof question, { kind: 'approval' }>;
  await request(`${run}/events`, { type: 'approval.given', questionId, digest, decision });
  await expect.poll(async () => (await view()).status).toBe('ended');
  expect(refunded).toEqual(decision === 'approve' ? ['A7'] : []);
  await chat.close();
});
