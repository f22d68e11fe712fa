import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import { named, pathTo } from '../exploration/paths.ts';
import { type Moves, shortestCycle, wayTo } from './graph-cycles.ts';
import type { Property, Witness } from './property.ts';
import { standing } from './states.ts';

export interface EventuallyOptions {
  /**
   * Events of actors that come only so often, for a reason that the chart does not know: a loop through one is no witness. A state to which
   * nothing else happens, and which they lead back to, is one: there it stands when there are no more of them.
   */
  readonly finitely?: (event: EventObject) => boolean;
}

/**
 * Wherever a machine stands, it comes to a state that is so, whatever its actors come to and however long they take, and if nobody sends
 * it anything more. It does not hold where it can stand for ever with no actor and no delay to move it, and where actors and delays can lead
 * it in a circle. That an actor goes on to send the same without end (a stream) is left out: each of its events is one of a finite number.
 */
export function alwaysEventually(
  name: string,
  isSo: (snapshot: AnyMachineSnapshot) => boolean,
  { finitely = () => false }: EventuallyOptions = {},
): Property {
  return {
    name: `always eventually ${name}`,
    ofWhole: true,
    check(exploration) {
      const isGoal = exploration.states.map(({ snapshot }) => isSo(snapshot));
      const all = exploration.edgesFrom.map((edges, id) => (isGoal[id] === true ? [] : edges.filter(movesByItself)));
      const moves = all.map((edges) => edges.filter(({ occurrence }) => !finitely(occurrence.event)));
      return standsFor(exploration, isGoal) ?? usedUp(exploration, all, moves) ?? circleIn(exploration, moves);
    },
  };
}

function movesByItself({ from, to, taken, occurrence: { kind } }: ExploredEdge): boolean {
  if (taken.length === 0 || kind === 'sent') return false;
  return kind === 'emitted' ? from !== to : true;
}

/** What moves a state for certain, if nobody sends anything: that an actor goes on to tell something is not. */
const isCertain = ({ taken, occurrence: { kind } }: ExploredEdge): boolean =>
  taken.length > 0 && kind !== 'sent' && kind !== 'emitted';

/** A state in which it can stand for ever: it has ended otherwise, or nothing but somebody outside can move it. */
function standsFor(exploration: Exploration, isGoal: readonly boolean[]): Witness | null {
  const found = exploration.states.find(
    ({ id }) => isGoal[id] !== true && !(exploration.edgesFrom[id] ?? []).some(isCertain),
  );
  if (found === undefined) return null;
  const ends = found.snapshot.status === 'active' ? 'stands for ever' : 'ends';
  return { what: `it ${ends} in ${standing(found)}`, path: pathTo(exploration, found.id) };
}

/** A state that is moved only by what comes so often and no more, and that it comes back to until it does not come again. */
function usedUp(exploration: Exploration, all: Moves, moves: Moves): Witness | null {
  const found = exploration.states.find(({ id }) => {
    const certain = (all[id] ?? []).filter(isCertain);
    if (certain.length === 0 || moves[id]?.some(isCertain) === true) return false;
    return certain.every((edge) => wayTo(id, [edge], all) !== null);
  });
  if (found === undefined) return null;
  const names = (all[found.id] ?? []).filter(isCertain).map(({ occurrence }) => occurrence.name);
  const what = `it stands for ever in ${standing(found)} once there is no more of ${names.join(' or ')}`;
  return { what, path: pathTo(exploration, found.id) };
}

function circleIn(exploration: Exploration, moves: Moves): Witness | null {
  const edges = shortestCycle(exploration.states, moves);
  const start = exploration.states[edges?.[0]?.from ?? -1];
  if (edges === null || start === undefined) return null;
  const { beginning, edges: before } = pathTo(exploration, start.id);
  const names = edges.map(({ occurrence }) => occurrence.name).join(' → ');
  return {
    what: `it goes in a circle from ${standing(start)} by ${names}`,
    path: named({ beginning, edges: [...before, ...edges] }),
  };
}
