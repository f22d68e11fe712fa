import { type AnswerGrader, createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';

/** Supports only answers that quote a document word for word. The other grades stay those of the engine. */
const grader: AnswerGrader = ({ answer, evidence }) => ({
  grounding: evidence.some(({ content }) => content.includes(answer)) ? 1 : 0,
});

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents), grader });
const run = chain.run({ request: 'How long does a run wait for consent?' });

for await (const event of run.events) {
  if (event.type === 'decision') console.log(event.decision.rule, event.decision.inputs, event.decision.rationale);
}
