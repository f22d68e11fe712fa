import type { Exploration, ExploredEdge } from '../testing/exploration/exploration.ts';
import { cover, type Path } from '../testing/exploration/paths.ts';
import { exploring, pageOf } from './explore-command.ts';

export const pathsCommand = (name: string): Promise<string> =>
  exploring(name, ({ exploration, assumed }, work) => {
    work.update('Finding the covering paths');
    const scenarios = cover(exploration).map((path, index) => scenarioText(exploration, path, index + 1));
    return pageOf([[...scenarios, ...assumed].join('\n\n')]);
  });

function scenarioText(exploration: Exploration, { start, edges }: Path, number: number): string {
  const input = start.name === '' ? '' : ` with input "${start.name}"`;
  return [
    `${number}. start${input} → ${stateText(exploration, start.state)}`,
    ...edges.map((edge) => stepText(exploration, edge)),
  ].join('\n');
}

function stepText(exploration: Exploration, { occurrence: { name }, from, to, taken }: ExploredEdge): string {
  const guards = taken.flatMap((index) => exploration.chart.transitions[index]?.guard ?? []);
  const by = guards.length === 0 ? '' : ` [${guards.join(', ')}]`;
  return `   ${name}${by} → ${from === to ? 'same state' : stateText(exploration, to)}`;
}

/** The innermost active states, by their paths. */
function stateText({ states }: Exploration, id: number): string {
  return leavesOf(states[id]?.value ?? '').join(' and ');
}

const leavesOf = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(Object(value)).flatMap(([name, inner]) => {
        const below = leavesOf(inner);
        return below.length === 0 ? [name] : below.map((leaf) => `${name}.${leaf}`);
      });
