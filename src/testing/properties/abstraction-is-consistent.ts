import type { AnyMachineSnapshot } from 'xstate';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import { named, pathThrough } from '../exploration/paths.ts';
import { pureSteps } from '../exploration/pure-steps.ts';
import { differenceOf } from '../exploration/state-keys.ts';
import { firstLineOf } from '../first-line.ts';
import { placeInWords } from '../structure/place-words.ts';
import type { Property, Witness } from './property.ts';

/**
 * Snapshots that an abstraction takes for one go on in the same way: the same can happen to them, and the same comes of it. An exploration
 * follows only the first of them; here the last way to each state is followed a step further. That is a test of an abstraction, no proof: it
 * looks at two snapshots of each state.
 */
export const abstractionIsConsistent: Property = { name: 'what is alike goes on alike', check: firstOdd };

function firstOdd(exploration: Exploration): Witness | null {
  const { told, states, edgesFrom, possibleIn } = exploration;
  const steps = pureSteps(told.machine);
  for (const way of lastWays(exploration)) {
    const before = states[way.from]?.snapshot;
    const kept = states[way.to];
    if (before === undefined || kept === undefined) continue;
    const other = steps.after(before, way.occurrence.event);
    told.told();
    const possible = numbered(possibleIn(other, kept.ended), ({ name }) => name);
    const edges = numbered(edgesFrom[way.to] ?? [], ({ occurrence: { name } }) => name);
    for (const [key, edge] of edges) {
      const occurrence = possible.get(key);
      const odd =
        occurrence === undefined
          ? `"${edge.occurrence.name}" cannot happen`
          : oddIn(exploration, edge, () => steps.after(other, occurrence.event));
      if (odd !== null) return witness(exploration, way, edge, odd);
    }
    const more = [...possible].find(([key]) => !edges.has(key))?.[1].name;
    // Where its depth was bounded, nothing was followed.
    if (more !== undefined && edges.size > 0) return witness(exploration, way, null, `"${more}" can happen`);
  }
  return null;
}

/** By their names, and their numbers among those of one name: actors come in the order in which they began. */
function numbered<Item>(items: readonly Item[], nameOf: (item: Item) => string): ReadonlyMap<string, Item> {
  const times = new Map<string, number>();
  return new Map(
    items.map((item) => {
      const name = nameOf(item);
      const nth = times.get(name) ?? 0;
      times.set(name, nth + 1);
      return [`${nth} ${name}`, item];
    }),
  );
}

/** Of each state that is reached by several edges, the last of them. */
function lastWays({ states, edges }: Exploration): readonly ExploredEdge[] {
  const last = new Map<number, ExploredEdge>();
  for (const edge of edges) {
    const isFirst = states[edge.to]?.reachedBy === edge.id;
    // One that comes back to its state shows little of other ways to it.
    if (!isFirst && (edge.from !== edge.to || !last.has(edge.to))) last.set(edge.to, edge);
  }
  return [...last.values()];
}

function oddIn(exploration: Exploration, edge: ExploredEdge, step: () => AnyMachineSnapshot): string | null {
  const { chart, keyOf, states, told } = exploration;
  const at = `at "${edge.occurrence.name}"`;
  let next: AnyMachineSnapshot;
  try {
    next = step();
  } catch (error) {
    told.told();
    return `it throws ${at} (${firstLineOf(error)})`;
  }
  const did = told.told();
  const asked = edge.verdicts.findIndex(({ place, holds }, nth) => {
    const said = did.verdicts[nth];
    return said?.place !== place || said.holds !== holds;
  });
  const verdict = edge.verdicts[asked];
  if (verdict !== undefined) return `the guard of ${placeInWords(chart, verdict.place)} says otherwise ${at}`;
  if (edge.taken.join() !== did.taken.join()) return `other transitions are taken ${at}`;
  const there = states[edge.to]?.snapshot;
  const difference = there && differenceOf(keyOf(next), keyOf(there));
  return difference == null ? null : `${difference} ${at}`;
}

function witness(exploration: Exploration, way: ExploredEdge, edge: ExploredEdge | null, odd: string): Witness {
  const { beginning, edges } = pathThrough(exploration, way);
  const value = JSON.stringify(exploration.states[way.to]?.value);
  return {
    what: `two ways to ${value} are taken for one, but after the later ${odd}`,
    path: named({ beginning, edges: edge === null ? edges : [...edges, edge] }),
  };
}
