import { describeFinding, explore, findingsOf, killReport, mutantsOf, soundness } from 'postchain/testing';
import { machine, outcomes, properties } from './seat.mts';

const { killed, results, survivors } = await killReport(mutantsOf(machine), (mutant) => {
  const events = [{ type: 'pay' }, { type: 'cancel' }] as const;
  const findings = findingsOf(explore(mutant, { outcomes, events }), [...soundness, ...properties]);
  for (const finding of findings) if (finding.witness !== null) throw new Error(describeFinding(finding));
});
console.log(`${killed} of ${results.length} killed`);
for (const survivor of survivors) console.log(`survived: ${survivor}`);
