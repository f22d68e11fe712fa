import type { AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { placeInWords } from '../anatomy/place-words.ts';
import type { StepTold } from '../anatomy/told-machine.ts';
import { canHappen } from '../exploration/ended-actors.ts';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import type { ExploreOptions } from '../exploration/explore.ts';
import { occurrencesOf } from '../exploration/occurrence.ts';
import { named, pathThrough } from '../exploration/paths.ts';
import { pureSteps } from '../exploration/pure-steps.ts';
import { differenceOf } from '../exploration/state-keys.ts';
import type { Property, Witness } from './property.ts';

/**
 * Snapshots that an abstraction takes for one go on in the same way: the same can happen to them, and the same comes of it. An exploration
 * follows only the first of them; here the last way to each state is followed a step further. `options` are those of the exploration. That
 * is a test of an abstraction, no proof: it looks at two snapshots of each state.
 */
export function alikeGoOnAlike<Machine extends AnyStateMachine>(options: ExploreOptions<Machine>): Property {
  return {
    name: 'what is alike goes on alike',
    check: (exploration) => firstOdd(exploration, options as unknown as ExploreOptions<AnyStateMachine>),
  };
}

function firstOdd(
  exploration: Exploration,
  { outcomes, events = [] }: ExploreOptions<AnyStateMachine>,
): Witness | null {
  const { machine, told, states, edgesFrom } = exploration;
  const steps = pureSteps(told.machine);
  const occurrences = occurrencesOf(machine, outcomes, events as readonly EventObject[]);
  for (const way of lastWays(exploration)) {
    const before = states[way.from]?.snapshot;
    const kept = states[way.to];
    if (before === undefined || kept === undefined) continue;
    const other = steps.after(before, way.occurrence.event);
    told.told();
    const possible = occurrences(other).filter(canHappen(kept.ended));
    const edges = edgesFrom[way.to] ?? [];
    // Where its depth was bounded, nothing was followed.
    for (const [nth, occurrence] of edges.length === 0 ? [] : possible.entries()) {
      const edge = edges[nth];
      const odd =
        edge?.occurrence.name === occurrence.name
          ? oddIn(exploration, edge, steps.after(other, occurrence.event), told.told())
          : `"${occurrence.name}" can happen there`;
      if (odd !== null) return witness(exploration, way, edge ?? null, odd);
    }
    const lost = edges[possible.length];
    if (lost !== undefined) return witness(exploration, way, lost, `"${lost.occurrence.name}" cannot happen there`);
  }
  return null;
}

/** Of each state that is reached by several edges, the last of them. */
function lastWays({ states, edges }: Exploration): readonly ExploredEdge[] {
  const last = new Map<number, ExploredEdge>();
  for (const edge of edges) if (states[edge.to]?.reachedBy !== edge.id) last.set(edge.to, edge);
  return [...last.values()];
}

function oddIn(exploration: Exploration, edge: ExploredEdge, next: AnyMachineSnapshot, did: StepTold): string | null {
  const { chart, keyOf, states } = exploration;
  const at = `at "${edge.occurrence.name}"`;
  const asked = edge.verdicts.findIndex(({ place, holds }, nth) => {
    const said = did.verdicts[nth];
    return said?.place !== place || said.holds !== holds;
  });
  const verdict = edge.verdicts[asked];
  if (verdict !== undefined) return `${at} the guard of ${placeInWords(chart, verdict.place)} says otherwise`;
  if (edge.taken.join() !== did.taken.join()) return `${at} other transitions are taken`;
  const there = states[edge.to]?.snapshot;
  const difference = there && differenceOf(keyOf(next), keyOf(there));
  return difference == null ? null : `${at} ${difference}`;
}

function witness(exploration: Exploration, way: ExploredEdge, edge: ExploredEdge | null, odd: string): Witness {
  const { beginning, edges } = pathThrough(exploration, way);
  const value = JSON.stringify(exploration.states[way.to]?.value);
  return {
    what: `of two ways to ${value} that the abstraction takes for one, the later goes on otherwise: ${odd}`,
    path: named({ beginning, edges: edge === null ? edges : [...edges, edge] }),
  };
}
