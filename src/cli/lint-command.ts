import { count } from '../internal/printable.ts';
import { describeFinding, findingsOf } from '../testing/properties/properties.ts';
import { exploring, pageOf } from './explore-command.ts';

/** Each failure names the shortest counterexample. */
export const lintCommand = (name: string): Promise<{ readonly text: string; readonly holds: boolean }> =>
  exploring(name, ({ exploration, properties, assumed }, work) => {
    const findings = properties.flatMap((property, at) => {
      work.update(`Checking property ${at + 1} of ${properties.length}: ${property.name}`);
      return findingsOf(exploration, [property]);
    });
    const failed = findings.filter(({ witness }) => witness !== null).length;
    const summary = `${exploration.machine.id}: ${count(findings.length, 'property', 'properties')} checked in ${count(exploration.states.length, 'state')}, ${failed === 0 ? 'all hold' : `${failed} failed`}`;
    return { text: pageOf([...findings.map(describeFinding), summary, ...assumed]), holds: failed === 0 };
  });
