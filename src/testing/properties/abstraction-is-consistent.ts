import { firstLineOf } from '../../internal/printable.ts';
import { describeDifference } from '../exploration/exact-json.ts';
import type { Exploration, ExploredEdge, ExploredPlace } from '../exploration/exploration.ts';
import { pathOf, pathThrough } from '../exploration/paths.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import { describeState, type Property, type Witness } from './properties.ts';

/**
 * Snapshots with equal abstractions behave the same: the same events can occur, with the same results. An exploration follows only the first
 * snapshot of each abstract state. This check takes one step from a second snapshot of each state, so it tests an abstraction and does not
 * prove it.
 */
export const abstractionIsConsistent: Property = { name: 'the abstraction is consistent', check: findInconsistency };

function findInconsistency(exploration: Exploration): Witness | null {
  const { instrumented, states, edgesFrom, possibleIn, stepFrom } = exploration;
  for (const second of secondEdges(exploration)) {
    const before = states[second.from];
    if (before === undefined) continue;
    const other = stepFrom(before, second.occurrence);
    instrumented.drainStep();
    const possible = numbered(possibleIn(other), ({ name }) => name);
    const edges = numbered(edgesFrom[second.to] ?? [], ({ occurrence: { name } }) => name);
    for (const [key, edge] of edges) {
      const occurrence = possible.get(key);
      const difference =
        occurrence === undefined
          ? `"${edge.occurrence.name}" cannot occur`
          : differenceAfter(exploration, edge, () => stepFrom(other, occurrence));
      if (difference !== null) return witness(exploration, second, edge, difference);
    }
    const extra = [...possible].find(([key]) => !edges.has(key))?.[1].name;
    // A state without edges may have been cut off by `depth`.
    if (extra !== undefined && edges.size > 0) return witness(exploration, second, null, `"${extra}" can occur`);
  }
  return null;
}

/** Keys items by name and by number among those of the same name: parallel actors may start in another order. */
function numbered<Item>(items: readonly Item[], nameOf: (item: Item) => string): ReadonlyMap<string, Item> {
  const counts = new Map<string, number>();
  return new Map(
    items.map((item) => {
      const name = nameOf(item);
      const nth = counts.get(name) ?? 0;
      counts.set(name, nth + 1);
      return [`${nth} ${name}`, item];
    }),
  );
}

/** Returns one edge other than the first into each state that several edges reach: the last that does not come from the state itself. */
function secondEdges({ states, edges }: Exploration): readonly ExploredEdge[] {
  const last = new Map<number, ExploredEdge>();
  for (const edge of edges) {
    const isFirst = states[edge.to]?.reachedBy === edge.id;
    if (!isFirst && (edge.from !== edge.to || !last.has(edge.to))) last.set(edge.to, edge);
  }
  return [...last.values()];
}

/** Describes how a step of the second snapshot differs from an explored edge, or returns null. */
function differenceAfter(exploration: Exploration, edge: ExploredEdge, step: () => ExploredPlace): string | null {
  const { chart, keyOf, states, instrumented } = exploration;
  const on = `on "${edge.occurrence.name}"`;
  const { snapshot: next, ended } = step();
  const did = instrumented.drainStep();
  const differing = edge.guards.find(({ transition, holds }, nth) => {
    const guard = did.guards[nth];
    return guard?.transition !== transition || guard.holds !== holds;
  });
  if (differing !== undefined) return `the guard of "${describeTransition(chart, differing.transition)}" differs ${on}`;
  if (edge.taken.join() !== did.taken.join()) return `other transitions are taken ${on}`;
  const to = states[edge.to];
  if (next.status === 'error' && to?.snapshot.status !== 'error')
    return `the machine throws ${on} (${firstLineOf(next.error)})`;
  const difference = to && describeDifference(keyOf(next, ended), keyOf(to.snapshot, to.ended));
  return difference == null ? null : `${on} ${difference}`;
}

function witness(
  exploration: Exploration,
  second: ExploredEdge,
  edge: ExploredEdge | null,
  difference: string,
): Witness {
  const { start, edges } = pathThrough(exploration, second);
  const state = exploration.states[second.to];
  return {
    what: `two snapshots of ${state === undefined ? 'a state' : describeState(state)} have equal abstractions, but in the later one ${difference}`,
    path: pathOf(start, edge === null ? edges : [...edges, edge]),
  };
}
