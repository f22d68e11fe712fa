import { count, printable, printableJson } from '../internal/printable.ts';
import type { Exploration } from '../testing/exploration/exploration.ts';
import { cover } from '../testing/exploration/paths.ts';
import { reachedItems } from '../testing/exploration/reached-items.ts';
import { coverageItems } from '../testing/structure/coverage-items.ts';
import { chartToExplore, explorationOf } from './explored-chart.ts';

/** `postchain explore`: how much can happen to a machine, and what of its chart nothing reaches; as data, all of it. */
export async function exploreCommand(name: string, { json = false }: { readonly json?: boolean }): Promise<string> {
  const exploration = explorationOf(await chartToExplore(name));
  return json
    ? `${printableJson(JSON.stringify(asData(exploration)))}\n`
    : printable(`${inLines(exploration).join('\n')}\n`);
}

/** States and edges; `guard` is that of the transition that was taken last, by which it went there. */
function asData({ machine, chart, starts: beginnings, states, edges }: Exploration) {
  return {
    machine: machine.id,
    beginnings: beginnings.map(({ name, state }) => ({ name, state })),
    states: states.map(({ id, value, depth, snapshot: { status } }) => ({ id, value, depth, status })),
    edges: edges.map(({ from, to, occurrence, taken }) => ({
      ...{ from, event: occurrence.name, to, transitions: taken },
      guard: chart.transitions[taken.at(-1) ?? -1]?.guard ?? null,
    })),
  };
}

function inLines(exploration: Exploration): readonly string[] {
  const { machine, states, edges } = exploration;
  const items = coverageItems(machine);
  const reached = reachedItems(exploration);
  const missing = items.filter(({ key }) => !reached.has(key));
  const paths = cover(exploration).length;
  return [
    `${machine.id}: ${count(states.length, 'state')}, ${count(edges.length, 'edge')}, ${count(paths, 'path')} that cover them`,
    `${items.length - missing.length} of ${count(items.length, 'part')} of the chart reached${missing.length === 0 ? '' : '; never:'}`,
    ...missing.map(({ kind, name }) => `  ${kind.padEnd(10)} ${name}`),
  ];
}
