import { createPostChain } from 'postchain';

const chain = createPostChain({ maxConcurrentRuns: 50, limits: { totalMs: 60_000 } });
const runs = ['What is a step?', 'What is a cycle?'].map((request) => chain.run({ request }));
for (const { status } of await Promise.all(runs.map(({ answer }) => answer))) console.log(status);
