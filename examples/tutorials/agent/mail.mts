import { waitFor } from 'xstate';
import { desk } from './desk.mts';

const actor = await desk.open('m-1', { input: 'My umbrella A7 broke.' });
await waitFor(actor.ref, (state) => !state.matches('reading'));
for (const { question } of actor.pending.approvals) console.log(actor.getSnapshot().value, question);
await actor.park({ wait: true });
