import { createPostChain, memoryJournals } from 'postchain';
import { statelyBridge } from 'postchain/inspection';
import { replies, scriptedModel } from 'postchain/testing';

const model = scriptedModel({}, { otherwise: replies });
const run = createPostChain({ model, journals: memoryJournals() }).run({ request: 'Which plan fits a team of five?' });

// Instead of the function: the URL of a WebSocket, such as 'ws://localhost:8080'.
const bridge = statelyBridge(run, ({ type, sessionId, snapshot }) => {
  const { value } = (snapshot ?? {}) as { value?: unknown };
  if (type === '@xstate.snapshot') console.log(sessionId, JSON.stringify(value));
});
await bridge.done;
