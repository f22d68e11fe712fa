import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const unsure = { ...replies.yield, confidence: 0.4 };
const model = scriptedModel({ yield: [unsure, unsure] }, { otherwise: replies });
const run = createPostChain({ model, consent: 'ask' }).run({
  request: 'Should we continue?',
  history: [{ role: 'user', content: 'A long story. '.repeat(100) }],
  mode: 'manual',
});

for await (const event of run.events) {
  if (event.type === 'consent-asked')
    run.send({ type: 'consent.given', questionId: event.questionId, choice: 'summarize' });
  if (event.type === 'direction-asked') {
    const { questionId, recommendation } = event;
    const isGood = recommendation !== null;
    run.send(isGood ? { type: 'run.finished', questionId } : { type: 'run.directed', phase: 'intention', questionId });
  }
  if (event.type === 'decision') console.log(event.decision.rationale);
}
