import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const location = {
  name: 'location',
  description: 'Returns the city where the user is.',
  arguments: { type: 'object', properties: {} },
};
const call = { capability: 'location', arguments: '{}' };
const model = scriptedModel({ action: [{ ...replies.action, calls: [call] }] }, { otherwise: replies });
const run = createPostChain({ model }).run({ request: 'Do I need an umbrella?', clientTools: [location] });

for await (const event of run.events) {
  if (event.type === 'approval-asked') {
    const { questionId, digest } = event;
    run.send({ type: 'approval.given', questionId, digest, decision: 'respond', output: 'Bergen' });
  }
  if (event.type === 'capability-end') console.log(event.result.output);
}
