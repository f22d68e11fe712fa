import { describeFinding, done, explore, fails, findingsOf, killReport, mutantsOf, soundness } from 'postchain/testing';
import { door } from './chart-coverage/door.ts';

const { killed, results, survivors } = await killReport(mutantsOf(door), (mutant) => {
  const exploration = explore(mutant, {
    outcomes: { turnKey: [done(true), fails()] },
    events: [{ type: 'close' }, { type: 'unlock' }],
  });
  const [fault] = findingsOf(exploration, soundness).filter(({ witness }) => witness !== null);
  if (fault !== undefined) throw new Error(describeFinding(fault));
});

console.log(`${killed} of ${results.length} killed; alive: ${survivors.join('; ')}`);
