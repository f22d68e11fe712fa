import { createActor, toPromise } from 'xstate';
import { clerk } from './clerk.mts';

const { rounds, answer } = await toPromise(createActor(clerk, { input: 'My umbrella A7 broke.' }).start());
for (const { calls } of rounds) for (const { tool, output } of calls) console.log(tool, output);
console.log(answer);
