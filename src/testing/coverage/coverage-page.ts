import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chartOf } from '../../engine/charts/chart.ts';
import { machinesByName } from '../../engine/charts/machines.ts';
import { builtFolder } from '../../inspection/pages/built-folder.ts';
import { pageData, pageWith } from '../../inspection/pages/page-template.ts';
import type { RunCharts } from '../../inspection/wire.ts';
import type { MachineCoverage } from './coverage.ts';
import { type CoverageReport, REPORT_VERSION, type ReportedLayout } from './coverage-report.ts';

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

/** What runs inside states, where nobody says: our own machines by their names, and any other that is called as it is invoked. */
function invokedByName(charts: RunCharts['charts']): RunCharts['invoked'] {
  const ids = new Set(charts.map(({ id }) => id));
  const own = Object.entries(machinesByName).map(([name, { id }]) => [name, id] as const);
  const called = new Set(charts.flatMap(({ states }) => states.flatMap(({ invokes }) => invokes)));
  const names = [...own, ...[...ids].map((id) => [id, id] as const)];
  return Object.fromEntries(names.filter(([name, id]) => ids.has(id) && called.has(name)));
}

/** The layout of charts, made here: a page that is a file cannot. Null where the page has it since it was built: for our own charts. */
async function laidOut(charts: RunCharts): Promise<ReportedLayout | null> {
  if (areOwn(charts)) return null;
  try {
    const address = pathToFileURL(join(builtFolder('inspector-layout'), 'layout.js')).href;
    const { layOut } = (await import(/* @vite-ignore */ address)) as Layout;
    return await layOut(charts);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${why}` };
  }
}

/** What is built of the inspector for Node. It never rejects for the sake of a chart. */
interface Layout {
  layOut(charts: RunCharts): Promise<ReportedLayout>;
}

function areOwn(given: RunCharts): boolean {
  const charts = Object.values(machinesByName).map(chartOf);
  return told(given) === told({ charts, invoked: invokedByName(charts) });
}

const told = ({ charts, invoked }: RunCharts): string =>
  JSON.stringify([charts.map((chart) => JSON.stringify(chart)).sort(), Object.entries(invoked).sort()]);
