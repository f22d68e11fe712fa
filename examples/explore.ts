import { cover, describeFinding, done, explore, fails, findingsOf, runPath, soundness } from 'postchain/testing';
import { fromPromise, setup } from 'xstate';

const door = setup({ actors: { turnKey: fromPromise(async () => true) } }).createMachine({
  id: 'door',
  initial: 'open',
  states: {
    open: { on: { close: 'closed' } },
    closed: {
      invoke: { src: 'turnKey', onDone: 'locked', onError: 'open' },
      after: { 5000: 'open' },
    },
    locked: { on: { unlock: 'open' } },
  },
});

const exploration = explore(door, { outcomes: { turnKey: [done(true), fails()] } });

for (const finding of findingsOf(exploration, soundness)) console.log(describeFinding(finding));
for (const path of cover(exploration)) {
  runPath(exploration, path);
  console.log(path.name);
}
