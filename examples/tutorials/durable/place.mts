import { orders } from './orders.mts';

const actor = await orders.open('o-17', { input: { cents: 4_000 } });
console.log(actor.getSnapshot().value, actor.pending.events);
await actor.park();
