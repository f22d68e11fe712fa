import type { AnyMachineSnapshot } from 'xstate';
import type { Exploration, ExploredEdge, ExploredState, StartState } from '../exploration/exploration.ts';
import type { Occurrence } from '../exploration/occurrences.ts';
import { pathOf } from '../exploration/paths.ts';
import type { Route } from './precedes.ts';
import { describeState, type Property, type Witness } from './properties.ts';

type Matches = (snapshot: AnyMachineSnapshot) => boolean;
type IsEvent = (occurrence: Occurrence) => boolean;

/**
 * Each time the machine enters matching states, a matching event has occurred since the start or since it last left such states. One approval
 * thus allows one effect. `precedes` says the same of names; this one can look at the context.
 *
 * @example
 * neverBefore('refunding before an approval', (state) => state.matches('refunding'), ({ name }) => name === 'approval: approved')
 */
export const neverBefore = (name: string, matches: Matches, event: IsEvent): Property => ({
  name: `never ${name}`,
  check: (exploration) =>
    findDisallowed(exploration, {
      matches,
      isAllowed: false,
      after: (edge, wasAllowed, [left, entered]) => event(edge.occurrence) || (wasAllowed && !(left && !entered)),
    }),
});

/**
 * No matching state follows a matching event, at whatever distance.
 *
 * @example
 * neverAfter('refunding after a denial', (state) => state.matches('refunding'), ({ name }) => name === 'approval: denied')
 */
export const neverAfter = (name: string, matches: Matches, event: IsEvent): Property => ({
  name: `never ${name}`,
  check: (exploration) =>
    findDisallowed(exploration, {
      matches,
      isAllowed: true,
      after: (edge, wasAllowed) => wasAllowed && !event(edge.occurrence),
    }),
});

interface Order {
  readonly matches: Matches;
  /** Whether matching states are allowed at the start. */
  readonly isAllowed: boolean;
  /** Whether they are allowed after an edge. The last argument is whether the states at its ends match. */
  after(edge: ExploredEdge, wasAllowed: boolean, matching: readonly [boolean, boolean]): boolean;
}

/** A state with its past: whether matching states are allowed, and the shortest route there. */
interface Step {
  readonly state: number;
  readonly isAllowed: boolean;
  readonly start: StartState;
  readonly last: Route | null;
}

/** Finds the shortest path to a matching state that its past does not allow. */
function findDisallowed({ starts, states, edgesFrom }: Exploration, order: Order): Witness | null {
  const { matches, isAllowed, after } = order;
  const isMatch = states.map(({ snapshot }) => matches(snapshot));
  const isReached = ({ state, last }: Step): boolean =>
    isMatch[state] === true || (last?.edge.merged !== undefined && matches(last.edge.merged));
  const seen = new Set<string>();
  const steps: Step[] = starts.map((start) => ({ state: start.state, isAllowed, start, last: null }));
  // New steps are appended in order of distance, so the list is its own queue.
  for (const step of steps) {
    const { state, start, last } = step;
    if (!step.isAllowed && isReached(step)) {
      const edges: ExploredEdge[] = [];
      for (let at = last; at !== null; at = at.before) edges.unshift(at.edge);
      return { what: `reached in ${describeState(states[state] as ExploredState)}`, path: pathOf(start, edges) };
    }
    const key = `${state} ${step.isAllowed}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const edge of edgesFrom[state] ?? []) {
      const matching = [isMatch[edge.from] === true, isMatch[edge.to] === true] as const;
      const isNext = after(edge, step.isAllowed, matching);
      steps.push({ state: edge.to, isAllowed: isNext, start, last: { edge, before: last } });
    }
  }
  return null;
}
