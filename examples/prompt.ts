import { createPostChain, prompts } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const intention = {
  ...prompts.intention,
  version: 6,
  task: () => 'State the goal of the request in one short sentence.',
};

const model = scriptedModel({}, { otherwise: replies });
await createPostChain({ model, prompts: { intention } }).run({ request: 'Which plan fits a team of five?' }).answer;
const asked = model.calls.find(({ task }) => task === 'intention');
console.log(asked?.turns[1]?.content);
