import { createPostChain, exponentialBackoff, maxCorrections, retryPolicy } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const unknownGoal = { goal: 'unknown', alternatives: [], clarity: 0.2, unclearIntent: true, alignment: [] };
const model = scriptedModel({ intention: [{ reply: { goal: 7 } }] }, { otherwise: replies });

const chain = createPostChain({
  model,
  policy: {
    yield: retryPolicy(maxCorrections(4), exponentialBackoff({ baseMs: 200 })),
    intention: { ...maxCorrections(0), finalizeOrThrow: () => unknownGoal },
  },
});

const run = chain.run({ request: 'When does the store open?' });
console.log((await run.answer).answerText);
for (const entry of run.entries) if (entry.type === 'value') console.log(entry.name, entry.value);
