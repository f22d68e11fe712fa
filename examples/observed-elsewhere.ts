import { inspectionServer, inspectTo } from 'postchain/inspection';
import { createActor, createMachine } from 'xstate';

// The other process: `postchain inspect`, or this.
const inspector = await inspectionServer();
console.log(inspector.url);

const inspect = inspectTo(inspector.inspectUrl);
const actor = createActor(createMachine({ id: 'door', on: { OPEN: {} } }), { inspect }).start();
actor.send({ type: 'OPEN' });

inspect.close();
await inspector.close();
