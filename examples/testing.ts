import { createPostChain } from 'postchain';
import { replies, SimulatedClock, scriptedModel, settle } from 'postchain/testing';

const clock = new SimulatedClock();
const busy = { failure: { code: 'rate_limited', retryAfterMs: 5_000 } };
const model = scriptedModel({ intention: [busy, { ...replies.intention }] }, { otherwise: replies });
const run = createPostChain({ model, clock }).run({ request: 'Which plan fits a team of five?' });

await settle();
// Waiting in Intention for the retry delay.
console.log(run.ref.getSnapshot().value);
clock.increment(5_000);
const { status } = await run.answer;
console.log(status);
