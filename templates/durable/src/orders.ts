import { createDurableMachine, type DurableMachineOptions, fileJournals, idempotencyKey } from 'postchain/durable';
import { fromPromise } from 'xstate';
import { order } from './order.ts';

/** Orders in a folder: any process that has the folder continues them. `payments` is the URL of the payment service. */
export function createOrders(folder: string, payments: string, options: Pick<DurableMachineOptions, 'clock'> = {}) {
  const pay = fromPromise<string, { euros: number }>(async ({ input, self, signal }) => {
    // A payment that a crash interrupted is requested again with the same key, so that the service charges once.
    const headers = { 'idempotency-key': idempotencyKey({ self }) };
    const response = await fetch(payments, { method: 'POST', headers, body: JSON.stringify(input), signal });
    if (!response.ok) throw new Error(`The payment failed with status ${response.status}.`);
    return await response.text();
  });
  return createDurableMachine(order.provide({ actors: { pay } }), { journals: fileJournals(folder), ...options });
}

/** Answers the open question of an order. Returns whether there was one. */
export async function decide(orders: ReturnType<typeof createOrders>, id: string, decision: 'approve' | 'deny') {
  const found = (await orders.list()).find((each) => each.id === id);
  const asked = found?.waiting?.approvals?.[0];
  // The digest is that of the question: an answer to any other question has no effect.
  if (asked === undefined) return false;
  return await orders.send(id, { type: 'approval.given', id: asked.id, digest: asked.digest, decision });
}
