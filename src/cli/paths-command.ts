import type { Exploration, ExploredEdge } from '../testing/exploration/exploration.ts';
import { cover, type Path } from '../testing/exploration/paths.ts';
import { exploring, pageOf } from './explore-command.ts';
import { stateText } from './state-text.ts';

export const pathsCommand = (name: string): Promise<string> =>
  exploring(name, ({ exploration, assumed }, work) => {
    work.update('Finding the covering paths');
    const scenarios = cover(exploration).map((path, index) => scenarioText(exploration, path, index + 1));
    return pageOf([[...scenarios, ...assumed].join('\n\n')]);
  });

function scenarioText(exploration: Exploration, { start, edges }: Path, number: number): string {
  const input = start.name === '' ? '' : ` with input "${start.name}"`;
  return [
    `${number}. start${input} → ${stateText(exploration.states[start.state]?.value)}`,
    ...edges.map((edge) => stepText(exploration, edge)),
  ].join('\n');
}

function stepText(exploration: Exploration, { occurrence: { name }, from, to, taken }: ExploredEdge): string {
  const guards = taken.flatMap((index) => exploration.chart.transitions[index]?.guard ?? []);
  const by = guards.length === 0 ? '' : ` [${guards.join(', ')}]`;
  return `   ${name}${by} → ${from === to ? 'same state' : stateText(exploration.states[to]?.value)}`;
}
