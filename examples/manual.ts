import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const unsure = { ...replies.yield, confidence: 0.4 };
const model = scriptedModel({ yield: [unsure, unsure] }, { otherwise: replies });
const run = createPostChain({ model }).run({ request: 'Should we continue?', mode: 'manual' });

for await (const event of run.events) {
  if (event.type === 'direction-asked') {
    const { questionId, recommendation } = event;
    const isGood = recommendation !== null;
    run.send(isGood ? { type: 'run.finished', questionId } : { type: 'run.directed', phase: 'intention', questionId });
  }
  if (event.type === 'decision') console.log(event.decision.rationale);
}
