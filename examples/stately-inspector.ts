import { createInspector } from '@statelyai/inspect';
import { createPostChain } from 'postchain';
import { replies, scriptedModel } from 'postchain/testing';

const model = scriptedModel({}, { otherwise: replies });
const run = createPostChain({ model }).run({ request: 'Which plan fits a team of five?' });

// In your program: const inspector = createWebSocketInspector({ url: 'ws://localhost:8080' });
const inspector = createInspector({ send: (message) => console.log(message.type) });
inspector.actor(run.ref);
run.ref.system.inspect(inspector.inspect);
await run.answer;
