import { createPostChain } from 'postchain';

const chain = createPostChain({
  profile: { extends: 'lean', understanding: 'policy', writing: 'always' },
});
const { metadata } = await chain.run({ request: 'Is the library open on Sundays?' }).answer;
console.log(metadata.usage.modelCalls);
