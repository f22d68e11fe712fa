import { createBareChain, createPassageIndex } from 'postchain';
import { loadDocuments } from 'postchain/node';
import { createActor, toPromise } from 'xstate';

const { documents } = await loadDocuments(['docs']);
const chain = createBareChain({ documents: createPassageIndex(documents) });
const actor = createActor(chain.createMachine(), {
  input: chain.createInput({ request: 'What does the Understanding phase decide?' }),
});
actor.on('decision', ({ decision }) => console.log(decision.rationale));
actor.start();
const { answerText, sources } = await toPromise(actor);
console.log(answerText, sources);
