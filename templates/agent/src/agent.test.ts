import { extractiveModel } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import { expect, it } from 'vitest';
import { createAgent } from './agent.ts';
import { sampleOrders } from './tools.ts';

it('quotes the documents without a language model', async () => {
  const agent = await createAgent(sampleOrders(), { model: extractiveModel() });
  const { answerText, sources } = await agent.run({ request: 'When is shipping free?' }).answer;
  expect(answerText).toContain('50 euros or more');
  expect(sources.map(({ path }) => path)).toEqual(['documents/policy.md']);
});

it.each(['approve', 'deny'] as const)('finds an order, and asks before it refunds it: %s', async (decision) => {
  const orders = sampleOrders();
  const call = (capability: string) => ({ capability, arguments: '{"id":"A7"}' });
  const action = [{ ...replies.action, calls: [call('find_order')] }];
  const continuation = [
    { done: false, finalOutput: null, next: [call('refund_order')] },
    { done: true, finalOutput: null, next: [] },
  ];
  const model = scriptedModel({ action, continuation }, { otherwise: replies });
  const run = (await createAgent(orders, { model })).run({ request: 'Please refund order A7.' });

  const asked: string[] = [];
  for await (const event of run.events) {
    if (event.type !== 'approval-asked') continue;
    const { questionId, digest, capability } = event;
    asked.push(capability);
    expect(orders.get('A7')?.isRefunded).toBe(false);
    run.send({ type: 'approval.given', questionId, digest, decision });
  }
  expect(asked).toEqual(['refund_order']);
  expect(orders.get('A7')?.isRefunded).toBe(decision === 'approve');
});
