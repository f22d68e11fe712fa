import type { ChartState } from '../../src/engine/charts/chart.ts';
import { groupedBy } from './grouped-by.ts';

/** The states of a chart, to be asked by their ids. */
export interface StateTree {
  readonly root: ChartState | undefined;
  state(id: string): ChartState | undefined;
  childrenOf(id: string): readonly ChartState[];
}

const NONE: readonly ChartState[] = [];

export function createStateTree(states: readonly ChartState[]): StateTree {
  const byId = new Map(states.map((state) => [state.id, state]));
  const children = groupedBy(states, ({ parent }) => parent ?? '');
  return {
    root: children.get('')?.[0],
    state: (id) => byId.get(id),
    childrenOf: (id) => children.get(id) ?? NONE,
  };
}

/** A state and those around it, from the inside out. */
export function outwards(tree: StateTree, id: string): readonly ChartState[] {
  const path: ChartState[] = [];
  for (let state = tree.state(id); state !== undefined; state = tree.state(state.parent ?? '')) path.push(state);
  return path;
}

/** The names of a state and those around it but the root: `cycling › yield › deciding`. Its id where the chart does not know it. */
export function pathInWords(tree: StateTree | undefined, id: string): string {
  const path = tree === undefined ? [] : outwards(tree, id);
  if (path.length < 2) return path[0]?.name ?? id;
  return path
    .slice(0, -1)
    .map(({ name }) => name)
    .reverse()
    .join(' › ');
}

export const nameIn = (tree: StateTree | undefined, id: string): string => tree?.state(id)?.name ?? id;

/** `postChain.cycling.routing` is called `routing`. */
export const lastName = (id: string): string => id.slice(id.lastIndexOf('.') + 1);

/** Whether these are the same states, in the same order. */
export function sameIds(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((id, at) => id === right[at]);
}
