import { createPostChain, definePrompt, prompts } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const intention = definePrompt({
  ...prompts.intention,
  version: prompts.intention.version + 1,
  task: (input) => `${prompts.intention.task?.(input)}\nState the goal in one short sentence.`,
});

const model = scriptedModel({}, { otherwise: replies });
await createPostChain({ model, prompts: { intention } }).run({ request: 'Which plan fits a team of five?' }).answer;
const asked = model.calls.find(({ task }) => task === 'intention');
console.log(asked?.turns[1]?.content);
