import { count, printable } from '../internal/printable.ts';
import { describeFinding, findingsOf } from '../testing/properties/properties.ts';
import { exploreChart } from './explore-command.ts';

/** `postchain lint`: checks the properties of a chart. Each failure names the shortest counterexample. */
export async function lintCommand(name: string): Promise<{ readonly text: string; readonly holds: boolean }> {
  const { exploration, properties } = await exploreChart(name);
  const findings = findingsOf(exploration, properties);
  const failed = findings.filter(({ witness }) => witness !== null).length;
  const lines = [
    ...findings.map(describeFinding),
    `${exploration.machine.id}: ${count(findings.length, 'property', 'properties')} checked in ${count(exploration.states.length, 'state')}, ${failed === 0 ? 'all hold' : `${failed} failed`}`,
  ];
  return { text: printable(`${lines.join('\n')}\n`), holds: failed === 0 };
}
