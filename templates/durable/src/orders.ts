import { createDurableMachine, type DurableMachineOptions, fileJournals } from 'postchain/durable';
import { fromPromise } from 'xstate';
import { order } from './order.ts';

/** Stores orders in a directory: any process with access to it can continue them. `payments` is the URL of the payment service. */
export function createOrders(folder: string, payments: string, options: Pick<DurableMachineOptions, 'clock'> = {}) {
  const pay = fromPromise<string, { orderId: string; euros: number }>(async ({ input, signal }) => {
    // All payments of an order have one key, so the service charges only once, even if a crash or a lost response repeats a payment.
    const headers = { 'idempotency-key': input.orderId };
    const response = await fetch(payments, { method: 'POST', headers, body: JSON.stringify(input), signal });
    if (!response.ok) throw new Error(`The payment failed with status ${response.status}.`);
    return await response.text();
  });
  return createDurableMachine(order.provide({ actors: { pay } }), { journals: fileJournals(folder), ...options });
}

// Without a payment service, a data URL answers each payment with a receipt.
const { JOURNALS = 'journals', PAYMENTS_URL = 'data:,receipt' } = process.env;
export const orders = createOrders(JOURNALS, PAYMENTS_URL);

/** Answers the open question of an order. Returns whether there was one. */
export async function decide(orders: ReturnType<typeof createOrders>, id: string, decision: 'approve' | 'deny') {
  const found = (await orders.list()).find((each) => each.id === id);
  const asked = found?.waiting?.approvals?.[0];
  // The digest is that of the question: an answer to any other question has no effect.
  if (asked === undefined) return false;
  return await orders.send(id, { type: 'approval.given', id: asked.id, digest: asked.digest, decision });
}
