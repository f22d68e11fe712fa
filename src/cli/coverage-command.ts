import { basename } from 'node:path';
import { machinesByName } from '../engine/charts/machines.ts';
import { writePage } from '../inspection/pages.ts';
import { entriesOf } from '../journal/journal-lines.ts';
import { collectCoverage } from '../testing/coverage/coverage.ts';
import { coveragePage } from '../testing/coverage/coverage-page.ts';
import { percentOf } from '../testing/coverage/coverage-report.ts';
import { coverageText, missedThresholds, type Thresholds } from '../testing/coverage/coverage-text.ts';
import { findRun, type JournalFlags } from './find-run.ts';

export interface CoverageFlags extends JournalFlags {
  readonly json?: boolean;
  readonly html?: string;
  readonly min?: Thresholds;
}

/** `postchain coverage`: returns how much of the built-in charts recorded runs reached, of what a journal can record. */
export async function coverageCommand(
  names: readonly string[],
  { json = false, html, min = {}, ...flags }: CoverageFlags,
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
    : `${coverageText(machines)}${html === undefined ? '' : `\nWrote ${html}\n`}`;
  return { text, missed: missedThresholds(machines, min) };
}

const titleOf = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? `Recorded run: ${basename(first)}` : `${others.length + 1} recorded runs`;
