import { orders } from './orders.mts';

const actor = await orders.open('o-17');
await actor.output;
console.log(actor.getSnapshot().value);
