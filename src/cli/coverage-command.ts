import { readRun } from '../chain/journal/run-journal.ts';
import { machinesByName } from '../chain/machines.ts';
import { count, printableJson } from '../internal/printable.ts';
import { collectCoverage } from '../testing/coverage/coverage.ts';
import {
  type CoverageThresholds,
  coverageText,
  type MachineCoverage,
  missedThresholds,
  percentOf,
  withUniqueNames,
} from '../testing/coverage/coverage-report.ts';
import { findRun } from './find-run.ts';
import type { JournalFlags } from './open-journals.ts';
import { wrapLines } from './screen.ts';

export interface CoverageFlags extends JournalFlags {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly min?: CoverageThresholds;
}

export async function coverageCommand(
  names: readonly string[],
  { json = false, all = false, min = {}, ...flags }: CoverageFlags,
): Promise<{ readonly text: string; readonly missed: readonly string[] }> {
  const modules = names.filter(isModule);
  const runs = names.filter((name) => !isModule(name));
  const machines = withUniqueNames([...(await coverageOfRuns(runs, flags)), ...(await coverageOfModules(modules))]);
  const text = json
    ? `${printableJson(JSON.stringify(machines.map(({ chart: _, ...one }) => ({ ...one, percent: percentOf(one) }))))}\n`
    : summaryText(machines, all);
  return { text, missed: missedThresholds(machines, min) };
}

/** Whether a name is the path of a module, not a recorded run. */
const isModule = (name: string): boolean => /\.[cm]?[jt]sx?(?:#\w+)?$/iu.test(name);

async function coverageOfRuns(names: readonly string[], flags: JournalFlags): Promise<readonly MachineCoverage[]> {
  if (names.length === 0) return [];
  const collector = collectCoverage(Object.values(machinesByName));
  for (const name of names) {
    const { store, runId } = await findRun(name, flags);
    collector.addJournal(await readRun(store.read(runId)));
  }
  return collector.coverage().map((one) => ({ ...one, items: one.items.filter(({ isRecorded }) => isRecorded) }));
}

/** How much of the machines their explorations reach. */
async function coverageOfModules(names: readonly string[]): Promise<readonly MachineCoverage[]> {
  if (names.length === 0) return [];
  const { exploring } = await import('./explore-command.ts');
  const covered: MachineCoverage[] = [];
  for (const name of names) {
    const coverage = await exploring(name, ({ exploration }) => {
      const collector = collectCoverage([exploration.machine]);
      collector.addExploration(exploration);
      return collector.coverage();
    });
    covered.push(...coverage);
  }
  return covered;
}

/** The table, and with `all` every item that was not reached. */
function summaryText(machines: readonly MachineCoverage[], all: boolean): string {
  const text = coverageText(machines, { missing: all });
  const missing = machines.flatMap(({ items }) => items.filter(({ times }) => times === 0)).length;
  const hint = all || missing === 0 ? '' : `\nNot reached: ${count(missing, 'item')}; list them with --all\n`;
  return wrapLines(`${text}${hint}`, process.stdout);
}
