import { pageData, pageWith } from '../../inspection/pages/page-template.ts';
import type { RunCharts } from '../../inspection/wire.ts';
import type { MachineCoverage } from './coverage.ts';
import { type CoverageReport, REPORT_VERSION } from './coverage-report.ts';
import { invokedByName, laidOut } from './lay-out.ts';

export interface CoveragePageOptions {
  /** What was covered, and when: one line that stands above all. */
  readonly title: string;
  readonly machines: readonly MachineCoverage[];
  /** Which charts run inside states of others: what a state invokes, by the id of its machine. Left out: those of the same name. */
  readonly invoked?: RunCharts['invoked'];
}

/**
 * Coverage as one self-contained page: the charts with what of them was brought about, and what was not. It asks nobody for anything.
 * Throws `invalid_path` where the page is not built.
 */
export async function coveragePage({ title, machines, invoked }: CoveragePageOptions): Promise<string> {
  const charts = machines.map(({ chart }) => chart);
  const shown = { charts, invoked: invoked ?? invokedByName(charts) };
  const report: CoverageReport = {
    version: REPORT_VERSION,
    title,
    ...shown,
    machines: machines.map(({ machine, items }) => ({ machine, items: items.map(({ isTold: _, ...item }) => item) })),
    layout: await laidOut(shown),
  };
  return pageWith('coverage', pageData(report));
}
