import { machinesByName } from '../diagram/machines.ts';
import { entriesOf } from '../journal/entries-of.ts';
import { collectCoverage } from '../testing/coverage/coverage.ts';
import { coverageText, percentOf } from '../testing/coverage/coverage-text.ts';
import { findRun, type JournalFlags } from './open-journals.ts';

export interface CoverageFlags extends JournalFlags {
  readonly json?: boolean;
  /** Per cent that each machine must reach. */
  readonly min?: number;
}

/** `postchain coverage`: what of our charts recorded runs brought about. */
export async function coverageCommand(
  names: readonly string[],
  { json = false, min = 0, ...flags }: CoverageFlags,
): Promise<{ readonly text: string; readonly isEnough: boolean }> {
  const collector = collectCoverage(Object.values(machinesByName));
  for (const name of names) {
    const { store, runId } = await findRun(name, flags);
    collector.addJournal(await entriesOf(store.read(runId)));
  }
  const machines = collector.coverage();
  const text = json
    ? `${JSON.stringify(machines.map((one) => ({ ...one, percent: percentOf(one) })))}\n`
    : coverageText(machines);
  return { text, isEnough: machines.every((one) => percentOf(one) >= min) };
}
