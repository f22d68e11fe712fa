import type { ChartState } from '../../src/engine/charts/chart.ts';
import { outwards, type StateTree } from './state-tree.ts';

/** A place in a chart. */
export interface Stand {
  /** The innermost states. */
  readonly leaves: readonly string[];
  /** They, and all states around them. */
  readonly active: ReadonlySet<string>;
  /**
   * The active states, and of what is not told all that may be: the states of a region beside the one that was entered, and those that a
   * history may lead to. The inner ones stand before those around them.
   */
  readonly possible: readonly ChartState[];
}

/** Where a chart stands by what was entered. Each place is worked out once. */
export function createStands(tree: StateTree): (targets: readonly string[]) => Stand {
  const known = new Map<string, Stand>();
  return (targets) => {
    const key = targets.length === 1 ? (targets[0] ?? '') : targets.join('\n');
    const there = known.get(key) ?? standOf(tree, targets);
    known.set(key, there);
    return there;
  };
}

function standOf(tree: StateTree, targets: readonly string[]): Stand {
  const named = new Set<string>();
  const leaves: string[] = [];
  const active = new Set<string>();
  const untold: string[] = [];
  for (const target of targets) {
    // Where a history leads to is not told: what is around it is entered as if for the first time.
    const state = tree.state(target);
    const from = state?.type === 'history' ? (state.parent ?? target) : target;
    if (from !== target) untold.push(from);
    for (const { id } of outwards(tree, from)) named.add(id);
  }
  const descend = (state: ChartState): void => {
    active.add(state.id);
    const inner = tree.childrenOf(state.id).filter(({ type }) => type !== 'history');
    const wanted = inner.filter(({ id }) => named.has(id));
    const isParallel = state.type === 'parallel';
    const next = isParallel ? inner : wanted.length > 0 ? wanted : inner.filter(({ id }) => id === state.initial);
    if (next.length === 0) leaves.push(state.id);
    if (isParallel && wanted.length > 0) for (const { id } of inner) if (!named.has(id)) untold.push(id);
    for (const child of next) descend(child);
  };
  if (tree.root !== undefined) descend(tree.root);
  const possible = new Set([...active, ...untold.flatMap((id) => within(tree, id))]);
  return { leaves, active, possible: inwardFirst(tree, possible) };
}

const within = (tree: StateTree, id: string): readonly string[] => [
  id,
  ...tree.childrenOf(id).flatMap((child) => within(tree, child.id)),
];

function inwardFirst(tree: StateTree, ids: ReadonlySet<string>): readonly ChartState[] {
  const depth = (id: string): number => outwards(tree, id).length;
  return [...ids].sort((one, other) => depth(other) - depth(one)).flatMap((id) => tree.state(id) ?? []);
}
