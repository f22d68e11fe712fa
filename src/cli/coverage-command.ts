import { basename } from 'node:path';
import { machinesByName } from '../chain/machines.ts';
import { entriesOf } from '../durable/journals/journal-store.ts';
import { writePage } from '../inspection/pages.ts';
import { count } from '../internal/printable.ts';
import { collectCoverage } from '../testing/coverage/coverage.ts';
import { coveragePage } from '../testing/coverage/coverage-page.ts';
import { percentOf } from '../testing/coverage/coverage-report.ts';
import { coverageText, missedThresholds, type Thresholds } from '../testing/coverage/coverage-text.ts';
import type { MachineCoverage } from '../testing/coverage/machine-coverage.ts';
import { findRun, type JournalFlags } from './find-run.ts';
import { wrapLines } from './screen.ts';

export interface CoverageFlags extends JournalFlags {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly html?: string;
  readonly min?: Thresholds;
}

export async function coverageCommand(
  names: readonly string[],
  { json = false, all = false, html, min = {}, ...flags }: CoverageFlags,
): Promise<{ readonly text: string; readonly missed: readonly string[] }> {
  const collector = collectCoverage(Object.values(machinesByName));
  for (const name of names) {
    const { store, runId } = await findRun(name, flags);
    collector.addJournal(await entriesOf(store.read(runId)));
  }
  const machines = collector
    .coverage()
    .map((one) => ({ ...one, items: one.items.filter(({ isRecorded }) => isRecorded) }));
  if (html !== undefined) await writePage(html, await coveragePage({ title: titleOf(names), machines }));
  const text = json
    ? `${JSON.stringify(machines.map(({ chart: _, ...one }) => ({ ...one, percent: percentOf(one) })))}\n`
    : `${summaryText(machines, all)}${html === undefined ? '' : `\nWrote ${html}\n`}`;
  return { text, missed: missedThresholds(machines, min) };
}

/** The table, and with `all` every item that was not reached. */
function summaryText(machines: readonly MachineCoverage[], all: boolean): string {
  const text = coverageText(machines, { missing: all });
  const missing = machines.flatMap(({ items }) => items.filter(({ times }) => times === 0)).length;
  const hint = all || missing === 0 ? '' : `\nNot reached: ${count(missing, 'item')}; list them with --all\n`;
  return wrapLines(`${text}${hint}`, process.stdout);
}

const titleOf = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? `Recorded run: ${basename(first)}` : `${others.length + 1} recorded runs`;
