import type { AnyMachineSnapshot, EventObject } from 'xstate';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import { named, pathTo } from '../exploration/paths.ts';
import type { Property, Witness } from './property.ts';
import { standing } from './states.ts';

export interface EventuallyOptions {
  /** Events of actors that come only so often, for a reason that the chart does not know: a loop through one is no witness. */
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
      const moves = exploration.edgesFrom.map((edges, id) =>
        isGoal[id] === true ? [] : edges.filter((edge) => movesByItself(edge) && !finitely(edge.occurrence.event)),
      );
      return standsFor(exploration, isGoal) ?? circlesIn(exploration, moves);
    },
  };
}

function movesByItself({ from, to, taken, occurrence: { kind } }: ExploredEdge): boolean {
  if (taken.length === 0 || kind === 'sent') return false;
  return kind === 'emitted' ? from !== to : true;
}

/** A state in which it can stand for ever: it has ended otherwise, or nothing but somebody outside can move it. */
function standsFor(exploration: Exploration, isGoal: readonly boolean[]): Witness | null {
  const found = exploration.states.find(
    ({ id }) =>
      isGoal[id] !== true &&
      !(exploration.edgesFrom[id] ?? []).some(
        ({ taken, occurrence: { kind } }) => taken.length > 0 && kind !== 'sent' && kind !== 'emitted',
      ),
  );
  if (found === undefined) return null;
  const ends = found.snapshot.status === 'active' ? 'stands for ever' : 'ends';
  return { what: `it ${ends} in ${standing(found)}`, path: pathTo(exploration, found.id) };
}

/** A circle of moves, found by a search in depth that keeps its way in a list: graphs are deeper than a stack. */
function circlesIn(exploration: Exploration, moves: readonly (readonly ExploredEdge[])[]): Witness | null {
  const done = new Set<number>();
  for (const { id } of exploration.states) {
    const way: { readonly state: number; next: number }[] = [{ state: id, next: 0 }];
    const places = new Map([[id, 0]]);
    while (way.length > 0) {
      const last = way.at(-1);
      if (last === undefined) break;
      const edge = done.has(last.state) ? undefined : moves[last.state]?.[last.next];
      if (edge === undefined) {
        done.add(last.state);
        places.delete(last.state);
        way.pop();
        continue;
      }
      last.next += 1;
      const place = places.get(edge.to);
      if (place !== undefined) return circle(exploration, way.slice(place), moves);
      if (done.has(edge.to)) continue;
      places.set(edge.to, way.length);
      way.push({ state: edge.to, next: 0 });
    }
  }
  return null;
}

function circle(
  exploration: Exploration,
  way: readonly { readonly state: number; readonly next: number }[],
  moves: readonly (readonly ExploredEdge[])[],
): Witness {
  const edges = way.flatMap(({ state, next }) => moves[state]?.[next - 1] ?? []);
  const start = way[0]?.state ?? 0;
  const { beginning, edges: before } = pathTo(exploration, start);
  const names = edges.map(({ occurrence }) => occurrence.name).join(' → ');
  const state = exploration.states[start];
  return {
    what: `it goes in a circle from ${state === undefined ? '' : standing(state)} by ${names}`,
    path: named({ beginning, edges: [...before, ...edges] }),
  };
}
