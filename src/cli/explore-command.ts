import { count, grouped, printable, printableJson } from '../internal/printable.ts';
import { actionChart } from '../testing/charts/action-chart.ts';
import { attemptChart } from '../testing/charts/attempt-chart.ts';
import { chainChart } from '../testing/charts/chain-chart.ts';
import { actionProperties, attemptProperties, chainProperties } from '../testing/charts/properties.ts';
import type { Exploration } from '../testing/exploration/exploration.ts';
import { cover, reachedItems } from '../testing/exploration/paths.ts';
import { describeFinding, findingsOf, noUnhandledError } from '../testing/properties/properties.ts';
import { coverageItems } from '../testing/structure/coverage-items.ts';
import { exploreModule, lintProperties } from './explore-module.ts';
import { type ChartModule, loadChartModule } from './load-chart-module.ts';
import { createLongWork, type LongWork } from './long-work.ts';
import { wrapLines } from './screen.ts';

export const exploreCommand = (name: string, { json = false }: { readonly json?: boolean }): Promise<string> =>
  exploring(name, ({ exploration, assumed }, work) =>
    json
      ? `${printableJson(JSON.stringify({ ...asData(exploration), assumed }))}\n`
      : pageOf([...summaryLines(exploration, work), ...assumed]),
  );

/** Returns the lines as text, wrapped to the width of the terminal. */
export const pageOf = (lines: readonly string[]): string =>
  wrapLines(printable(`${lines.join('\n')}\n`), process.stdout);

/** `guard` is that of the last transition taken. */
function asData({ machine, chart, starts, states, edges }: Exploration) {
  return {
    machine: machine.id,
    starts: starts.map(({ name, state }) => ({ name, state })),
    states: states.map(({ id, value, depth, snapshot: { status } }) => ({ id, value, depth, status })),
    edges: edges.map(({ from, to, occurrence, taken }) => ({
      from,
      event: occurrence.name,
      to,
      transitions: taken,
      guard: chart.transitions[taken.at(-1) ?? -1]?.guard ?? null,
    })),
  };
}

function summaryLines(exploration: Exploration, work: LongWork): readonly string[] {
  const { machine, states, edges } = exploration;
  const items = coverageItems(machine);
  const reached = reachedItems(exploration);
  const missing = items.filter(({ key }) => !reached.has(key));
  work.update('Finding the covering paths');
  const paths = cover(exploration).length;
  return [
    `${machine.id}: ${count(states.length, 'state')}, ${count(edges.length, 'edge')}, ${count(paths, 'covering path')}`,
    `${items.length - missing.length} of ${count(items.length, 'chart item')} reached${missing.length === 0 ? '' : '; not reached:'}`,
    ...missing.map(({ kind, name }) => `  ${kind.padEnd(10)} ${name}`),
    ...findingsOf(exploration, [noUnhandledError])
      .filter(({ witness }) => witness !== null)
      .map(describeFinding),
  ];
}

const BUILT_IN = {
  chain: { ...chainChart, properties: chainProperties },
  attempt: { ...attemptChart, properties: attemptProperties },
  action: { ...actionChart, properties: actionProperties },
} as unknown as Readonly<Record<string, ChartModule>>;

/** Explores a built-in chart by name, or the chart of a module, with a status line that `use` may update. */
export async function exploring<Result>(
  name: string,
  use: (explored: Awaited<ReturnType<typeof exploreChart>>, work: LongWork) => Result,
): Promise<Result> {
  const work = createLongWork();
  try {
    return use(await exploreChart(name, work), work);
  } finally {
    work.end();
  }
}

/** Returns the exploration, the properties to check, and what was assumed. */
async function exploreChart(name: string, work: LongWork) {
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  const chart = builtIn ?? (await loadChartModule(name, Object.keys(BUILT_IN)));
  const onProgress = (explored: number, found: number): void =>
    work.update(`Exploring ${chart.machine.id}: ${grouped(explored)} of ${grouped(found)} states found so far`);
  const { exploration, assumed } = exploreModule(chart, { onProgress });
  return {
    exploration,
    properties: builtIn?.properties ?? lintProperties(chart),
    assumed: assumed.map((text) => `Assumed ${text}`),
  };
}
