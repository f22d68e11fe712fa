import { count, printable } from '../internal/printable.ts';
import { describeFinding, findingsOf } from '../testing/properties/properties.ts';
import { chartToExplore, explorationOf } from './explored-chart.ts';

/** `postchain lint`: what holds of a machine wherever it comes, and what does not, each with the shortest way to see it. */
export async function lintCommand(name: string): Promise<{ readonly text: string; readonly holds: boolean }> {
  const given = await chartToExplore(name);
  const exploration = explorationOf(given);
  const findings = findingsOf(exploration, given.properties);
  const failed = findings.filter(({ witness }) => witness !== null).length;
  const lines = [
    ...findings.map(describeFinding),
    `${exploration.machine.id}: ${count(findings.length, 'property', 'properties')} over ${count(exploration.states.length, 'state')}, ${failed === 0 ? 'all hold' : `${failed} ${failed === 1 ? 'does' : 'do'} not hold`}`,
  ];
  return { text: printable(`${lines.join('\n')}\n`), holds: failed === 0 };
}
