import { fromPromise } from 'xstate';
import * as z from 'zod';
import { machine as refundMachine } from '../../examples/agents/refund-approval.ts';
import { decide } from '../../src/entries/agents.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

/** The refund agent of the examples, with a bank of its own that pays when the test says so. */
export function refundAgent(pay: () => Promise<void> = async () => {}) {
  const refunded: string[] = [];
  const proposed = { type: 'refund.proposed', order: 'A7', cents: 12_000 };
  const model = scriptedModel({ desk: Array.from({ length: 9 }, () => proposed) });
  const events = {
    'refund.proposed': z.object({ order: z.string(), cents: z.int() }),
    'mail.escalated': z.object({}),
  };
  const refund = fromPromise<string, { order: string }>(async ({ input }) => {
    await pay();
    refunded.push(input.order);
    return input.order;
  });
  return {
    refunded,
    model,
    machine: refundMachine.provide({ actors: { desk: decide({ model, name: 'desk', events }), refund } } as never),
  };
}
