import { count, printable } from '../internal/printable.ts';
import { describeFinding, findingsOf } from '../testing/properties/properties.ts';
import { exploreChart } from './explore-command.ts';
import { createLongWork } from './long-work.ts';
import { wrapLines } from './screen.ts';

/** Each failure names the shortest counterexample. */
export async function lintCommand(name: string): Promise<{ readonly text: string; readonly holds: boolean }> {
  const work = createLongWork();
  try {
    const { exploration, properties, assumed } = await exploreChart(name, work);
    const findings = properties.flatMap((property, at) => {
      work.update(`Checking property ${at + 1} of ${properties.length}: ${property.name}`);
      return findingsOf(exploration, [property]);
    });
    const failed = findings.filter(({ witness }) => witness !== null).length;
    const lines = [
      ...findings.map(describeFinding),
      `${exploration.machine.id}: ${count(findings.length, 'property', 'properties')} checked in ${count(exploration.states.length, 'state')}, ${failed === 0 ? 'all hold' : `${failed} failed`}`,
      ...assumed,
    ];
    return { text: wrapLines(printable(`${lines.join('\n')}\n`), process.stdout), holds: failed === 0 };
  } finally {
    work.end();
  }
}
