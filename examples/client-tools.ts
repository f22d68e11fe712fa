import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const place = { name: 'place', description: 'Returns where the user is.', arguments: { type: 'object' } };
const call = { capability: 'place', arguments: '{}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model }).run({ request: 'Do I need an umbrella?', clientTools: [place] });

for await (const event of run.events) {
  if (event.type === 'approval-asked') {
    const { questionId, digest, capability, arguments: given } = event;
    console.log(capability, given);
    run.send({ type: 'approval.given', questionId, digest, decision: 'respond', output: 'Bergen' });
  }
}
