import { machinesByName } from '../diagram/machines.ts';
import { entriesOf } from '../journal/entries-of.ts';
import { collectCoverage } from '../testing/coverage/coverage.ts';
import { coverageText, percentOf } from '../testing/coverage/coverage-text.ts';
import { missedThresholds, type Thresholds } from '../testing/coverage/thresholds.ts';
import { findRun, type JournalFlags } from './open-journals.ts';

export interface CoverageFlags extends JournalFlags {
  readonly json?: boolean;
  readonly min?: Thresholds;
}

/** `postchain coverage`: what of our charts recorded runs brought about, of all that a journal tells of. */
export async function coverageCommand(
  names: readonly string[],
  { json = false, min = {}, ...flags }: CoverageFlags,
): Promise<{ readonly text: string; readonly missed: readonly string[] }> {
  const collector = collectCoverage(Object.values(machinesByName));
  for (const name of names) {
    const { store, runId } = await findRun(name, flags);
    collector.addJournal(await entriesOf(store.read(runId)));
  }
  const machines = collector.coverage().map((one) => ({ ...one, items: one.items.filter(({ isTold }) => isTold) }));
  const text = json
    ? `${JSON.stringify(machines.map((one) => ({ ...one, percent: percentOf(one) })))}\n`
    : coverageText(machines);
  return { text, missed: missedThresholds(machines, min) };
}
