import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPassageIndex } from 'postchain';
import type { ChatModel } from 'postchain/agents';
import { createDurableMachine, type DurableEntry, memoryJournals } from 'postchain/durable';
import { loadDocuments } from 'postchain/node';
import * as kit from 'postchain/testing';
import { expect, it, onTestFinished } from 'vitest';
import { createActor, waitFor } from 'xstate';
import { createAgent } from './agent.machine.ts';
import { demoModel } from './demo-model.ts';
import { createShop } from './tools.ts';

const documents = createPassageIndex((await loadDocuments(['documents'])).documents);
const request = 'Please refund order A7.';

function newShop(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shop-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'orders.json');
  copyFileSync('orders.json', file);
  return file;
}

const refundKeyIn = (shop: string): string | null => JSON.parse(readFileSync(shop, 'utf8'))[0].refundKey;

function agentWith(model: ChatModel, { shop = newShop(), journals = memoryJournals() } = {}) {
  const chart = createAgent({ model, shop: createShop(shop), documents });
  return { chart, shop, conversations: createDurableMachine(chart, { journals }) };
}

type Conversations = ReturnType<typeof agentWith>['conversations'];

/** Lets a conversation end, and answers the question about the refund. */
async function end(conversations: Conversations, decision: 'approve' | 'deny' = 'approve', text = request) {
  const actor = await conversations.open('c-1', { input: { request: text } });
  await waitFor(actor.ref, (state) => state.status !== 'active' || state.matches('asking'));
  for (const { id, digest } of actor.pending.approvals)
    await actor.send({ type: 'approval.given', id, digest, decision });
  return await waitFor(actor.ref, ({ status }) => status !== 'active');
}

it('answers from the documents', async () => {
  const { value, output } = await end(agentWith(demoModel).conversations, 'deny', 'When is shipping free?');
  expect([value, output]).toEqual(['answered', expect.stringContaining('50 euros or more')]);
});

it.each([
  ['approve', 'refunded'],
  ['deny', 'denied'],
] as const)('finds an order, and asks before it refunds it: %s', async (decision, expected) => {
  const calls = [{ tool: 'find_order', arguments: '{"id":"A7"}' }];
  const proposal = { answer: { text: 'I propose a refund.', refund: 'A7' }, calls: [] };
  const model = kit.scriptedModel({ support: [{ answer: null, calls }, proposal] });
  const { conversations, shop } = agentWith(model);
  const { value, context } = await end(conversations, decision);
  expect([value, context.order?.euros]).toEqual([expected, 80]);
  expect(model.calls[1]?.turns.at(-1)?.content).toContain('umbrella');
  expect(refundKeyIn(shop) !== null).toBe(decision === 'approve');
});

it('ends, and refunds nothing before its approval, whatever the model, the shop and people do', async () => {
  const { chart, shop } = agentWith(kit.scriptedModel({}));
  const order = await createShop(shop).find('A7');
  const found = [kit.done(order, 'open'), kit.done({ ...order, isRefunded: true }, 'refunded'), kit.fails()];
  const outcomes = { findOrder: found, refundOrder: [kit.done('Refunded.'), kit.fails()] };
  const exploration = kit.explore(chart, { inputs: { refund: { request } }, outcomes });
  const findings = kit.findingsOf(exploration, [
    ...kit.soundness,
    kit.alwaysEventually('it ends', ({ status }) => status === 'done'),
    kit.precedes({ event: 'approval: approved' }, { state: 'refunding' }, 'each'),
  ]);
  expect(findings.filter(({ witness }) => witness !== null).map(kit.describeFinding)).toEqual([]);
});

it.each<[string, kit.ScriptedReply]>([
  ['invalid', { text: '{"other":1}' }],
  ['refused', { text: 'I cannot help with that.', reason: 'content-filter' }],
  ['cut', { text: '{"answer":{"text":"Yes', cut: 12 }],
  ['slow', { hang: true }],
])('ends if each reply of the model is %s', async (_, reply) => {
  const clock = new kit.SimulatedClock();
  const { chart } = agentWith(kit.scriptedModel(() => reply));
  const actor = createActor(chart, { clock, input: { request } }).start();
  for (let minute = 0; minute < 100 && actor.getSnapshot().status === 'active'; minute += 1) {
    await kit.settle();
    clock.increment(60_000);
  }
  expect(actor.getSnapshot().value).toBe('failed');
});

it('continues after a kill at any entry of its journal, and refunds once', async () => {
  const journals = memoryJournals();
  const { conversations, shop } = agentWith(demoModel, { journals });
  await end(conversations);
  const refundKey = refundKeyIn(shop);
  const entries: DurableEntry[] = [];
  for await (const entry of journals.read('c-1')) entries.push(entry);
  for (let life = 1; life <= entries.length; life += 1) {
    // A process that was killed at this entry left a journal, and an order that it may have refunded.
    const written = entries.slice(0, life);
    const left = memoryJournals();
    const writer = left.create('c-1');
    await writer.write(written);
    await writer.close();
    const hasRefunded = written.some((entry) => entry.type === 'activity-start' && entry.source === 'refundOrder');
    const again = agentWith(demoModel, { journals: left, ...(hasRefunded && { shop }) });
    expect((await end(again.conversations)).value).toBe('refunded');
    expect(refundKeyIn(again.shop)).toEqual(hasRefunded ? refundKey : expect.any(String));
  }
});
