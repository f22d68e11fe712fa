import { chainInput, createActors } from 'postchain';
import { chainMachine } from 'postchain/machines';
import { createActor, toPromise } from 'xstate';

const actor = createActor(chainMachine.provide({ actors: createActors() }), {
  input: chainInput({ request: 'What is a statechart?' }),
});
actor.on('decision', ({ decision }) => console.log(decision.rationale));
actor.start();
const { answerText } = await toPromise(actor);
console.log(answerText);
