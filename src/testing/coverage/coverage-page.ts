import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { machinesByName } from '../../chain/machines.ts';
import { chartOf } from '../../durable/charts/chart.ts';
import { builtFolder, pageData, pageWith } from '../../inspection/pages.ts';
import type { RunCharts } from '../../inspection/wire.ts';
import { importByName } from '../../internal/optional-package.ts';
import { type CoverageReport, REPORT_VERSION, type ReportedLayout } from './coverage-report.ts';
import { type MachineCoverage, withUniqueNames } from './machine-coverage.ts';

export interface CoveragePageOptions {
  /** One line at the top of the page. */
  readonly title: string;
  readonly machines: readonly MachineCoverage[];
  /** Machine ids by actor name: draws a machine inside the states that invoke it. Default: actors named like a machine. */
  readonly invoked?: RunCharts['invoked'];
}

/**
 * Returns coverage as one self-contained HTML page: the charts colored by coverage and a list of what is missing. Throws `invalid_path` if the
 * page has not been built.
 */
export async function coveragePage({ title, machines: given, invoked }: CoveragePageOptions): Promise<string> {
  const machines = withUniqueNames(given);
  const charts = machines.map(({ chart }) => chart);
  const shown = { charts, invoked: invoked ?? invokedByName(charts) };
  const report: CoverageReport = {
    version: REPORT_VERSION,
    title,
    ...shown,
    machines: machines.map(({ machine, items }) => ({
      machine,
      items: items.map(({ isRecorded: _, ...item }) => item),
    })),
    layout: await layoutOf(shown),
  };
  return pageWith('coverage', pageData(report));
}

/** Maps actor names to machine ids: PostChain's machines by their names, others by their ids. */
function invokedByName(charts: RunCharts['charts']): RunCharts['invoked'] {
  const ids = new Set(charts.map(({ id }) => id));
  const invoked = new Set(charts.flatMap(({ states }) => states.flatMap(({ invokes }) => invokes)));
  const own = Object.entries(machinesByName).map(([name, { id }]) => [name, id] as const);
  const names = [...own, ...[...ids].map((id) => [id, id] as const)];
  return Object.fromEntries(names.filter(([name, id]) => ids.has(id) && invoked.has(name)));
}

/** Lays the charts out, since a page opened from disk cannot. Returns null for PostChain's charts: the page contains their layout. */
async function layoutOf(charts: RunCharts): Promise<ReportedLayout | null> {
  if (areOwn(charts)) return null;
  try {
    const address = pathToFileURL(join(builtFolder('inspector'), 'layout.js')).href;
    const { layOut } = await importByName<LayoutModule>(address);
    return await layOut(charts);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${reason}` };
  }
}

/** The part of the inspector that is built for Node. It reports a chart that cannot be drawn instead of rejecting. */
interface LayoutModule {
  layOut(charts: RunCharts): Promise<ReportedLayout>;
}

function areOwn(given: RunCharts): boolean {
  const charts = Object.values(machinesByName).map(chartOf);
  return canonical(given) === canonical({ charts, invoked: invokedByName(charts) });
}

const canonical = ({ charts, invoked }: RunCharts): string =>
  JSON.stringify([charts.map((chart) => JSON.stringify(chart)).sort(), Object.entries(invoked).sort()]);
