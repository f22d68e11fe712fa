import { printable } from '../internal/printable.ts';
import type { Exploration, ExploredEdge } from '../testing/exploration/exploration.ts';
import { cover, type Path } from '../testing/exploration/paths.ts';
import { chartToExplore, explorationOf } from './explored-chart.ts';

/** `postchain paths`: few short ways that cover a chart, each as a scenario to read. */
export async function pathsCommand(name: string): Promise<string> {
  const exploration = explorationOf(await chartToExplore(name));
  const scenarios = cover(exploration).map((path, place) => scenario(exploration, path, place + 1));
  return printable(`${scenarios.join('\n\n')}\n`);
}

function scenario(exploration: Exploration, { start: beginning, edges }: Path, number: number): string {
  const start = beginning.name === '' ? 'it begins' : `it begins with ${beginning.name}`;
  return [
    `${number}. ${start}, in ${standing(exploration, beginning.state)}`,
    ...edges.map((edge) => line(exploration, edge)),
  ].join('\n');
}

function line(exploration: Exploration, { occurrence: { name }, from, to, taken }: ExploredEdge): string {
  const guards = taken.flatMap((place) => exploration.chart.transitions[place]?.guard ?? []);
  const by = guards.length === 0 ? '' : ` [${guards.join(', ')}]`;
  const there = from === to ? 'stays' : standing(exploration, to);
  return `   ${name}${by} → ${there}`;
}

/** The innermost states, by their paths. */
function standing({ states }: Exploration, id: number): string {
  return leaves(states[id]?.value ?? '').join(' and ');
}

const leaves = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(Object(value)).flatMap(([name, inner]) => {
        const below = leaves(inner);
        return below.length === 0 ? [name] : below.map((leaf) => `${name}.${leaf}`);
      });
