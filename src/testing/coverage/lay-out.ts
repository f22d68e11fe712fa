import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chartOf } from '../../engine/charts/chart.ts';
import { machinesByName } from '../../engine/charts/machines.ts';
import { builtFolder } from '../../inspection/pages/built-folder.ts';
import type { RunCharts } from '../../inspection/wire.ts';
import type { ReportedLayout } from './coverage-report.ts';

/** What runs inside states, where nobody says: our own machines by their names, and any other that is called as it is invoked. */
export function invokedByName(charts: RunCharts['charts']): RunCharts['invoked'] {
  const ids = new Set(charts.map(({ id }) => id));
  const own = Object.entries(machinesByName).map(([name, { id }]) => [name, id] as const);
  const called = new Set(charts.flatMap(({ states }) => states.flatMap(({ invokes }) => invokes)));
  const names = [...own, ...[...ids].map((id) => [id, id] as const)];
  return Object.fromEntries(names.filter(([name, id]) => ids.has(id) && called.has(name)));
}

/** The layout of charts, made here: a page that is a file cannot. Null where the page has it since it was built: for our own charts. */
export async function laidOut(charts: RunCharts): Promise<ReportedLayout | null> {
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
