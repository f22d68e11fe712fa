import { describeFinding, done, explore, fails, findingsOf, noUnhandledError } from 'postchain/testing';
import { fromPromise, setup } from 'xstate';

const shop = setup({ actors: { reserve: fromPromise(async () => 'A7') } }).createMachine({
  initial: 'reserving',
  states: { reserving: { invoke: { src: 'reserve', onDone: 'reserved' } }, reserved: { type: 'final' } },
});
const exploration = explore(shop, { outcomes: { reserve: [done('A7'), fails()] } });
for (const finding of findingsOf(exploration, [noUnhandledError])) console.log(describeFinding(finding));
