import { chainInput, createActors, createPassageIndex } from 'postchain';
import { createChainMachine } from 'postchain/machines';
import { loadDocuments } from 'postchain/node';
import { createActor, toPromise } from 'xstate';

const { documents } = await loadDocuments(['docs']);
const actors = createActors({ documents: createPassageIndex(documents) });
const actor = createActor(createChainMachine(actors), {
  input: chainInput({ request: 'What does the Understanding phase decide?' }),
});
actor.on('decision', ({ decision }) => console.log(decision.rationale));
actor.start();
const { answerText } = await toPromise(actor);
console.log(answerText);
