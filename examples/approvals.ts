import { createPostChain, defineCapability } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';
import * as z from 'zod';

const refund = defineCapability({
  name: 'refund',
  description: 'Refunds an order.',
  arguments: z.object({ order: z.string(), euros: z.number().max(100) }),
  approval: ({ euros }) => euros > 50,
  execute: ({ order, euros }) => `Refunded ${euros} euros for ${order}.`,
});

const call = { capability: 'refund', arguments: '{"order":"A7","euros":80}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model, capabilities: [refund] }).run({ request: 'Refund order A7.' });

for await (const event of run.events) {
  if (event.type === 'approval-asked') {
    const { questionId, digest, capability, arguments: given } = event;
    console.log(capability, given);
    run.send({ type: 'approval.given', questionId, digest, decision: 'approve', arguments: { ...given, euros: 60 } });
  }
  if (event.type === 'capability-end') console.log(event.result.output);
}
