import { inspectionServer } from 'postchain/inspection';
import { createActor, createMachine } from 'xstate';

const inspector = await inspectionServer();
console.log(inspector.url);

const light = createMachine({
  id: 'light',
  initial: 'red',
  states: { red: { on: { NEXT: 'green' } }, green: { on: { NEXT: 'red' } } },
});
const actor = createActor(light, { inspect: inspector.inspect }).start();
actor.send({ type: 'NEXT' });

// Keep the page open until Ctrl-C.
process.once('SIGINT', () => inspector.close());
