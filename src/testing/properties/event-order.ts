import type { AnyMachineSnapshot } from 'xstate';
import type { Exploration, ExploredEdge } from '../exploration/exploration.ts';
import type { Occurrence } from '../exploration/occurrences.ts';
import { pathOf } from '../exploration/paths.ts';
import { describeState, type Property, type Witness } from './properties.ts';

type Matches = (snapshot: AnyMachineSnapshot) => boolean;
type IsEvent = (occurrence: Occurrence) => boolean;

/**
 * A matching event occurs before each matching state: since the start, and since the machine last left the matching states. One approval thus
 * allows one effect.
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

/** A state with its past: whether matching states are allowed, and the last edge of the shortest path that leads there. */
interface Step {
  readonly state: number;
  readonly isAllowed: boolean;
  readonly edge: ExploredEdge | null;
  readonly previous: Step | null;
}

/** Finds the shortest path to a matching state that its past does not allow. */
function findDisallowed(exploration: Exploration, { matches, isAllowed, after }: Order): Witness | null {
  const { starts, states, edgesFrom } = exploration;
  const isMatch = states.map(({ snapshot }) => matches(snapshot));
  const isReached = ({ state, edge }: Step): boolean =>
    isMatch[state] === true || (edge?.merged !== undefined && matches(edge.merged));
  const seen = new Set<string>();
  const steps: Step[] = starts.map(({ state }) => ({ state, isAllowed, edge: null, previous: null }));
  // New steps are appended in order of distance, so the list is its own queue.
  for (const step of steps) {
    if (!step.isAllowed && isReached(step)) return witnessOf(exploration, step);
    const key = `${step.state} ${step.isAllowed}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const edge of edgesFrom[step.state] ?? []) {
      const matching = [isMatch[edge.from] === true, isMatch[edge.to] === true] as const;
      steps.push({ state: edge.to, isAllowed: after(edge, step.isAllowed, matching), edge, previous: step });
    }
  }
  return null;
}

function witnessOf({ starts, states }: Exploration, last: Step): Witness {
  const edges: ExploredEdge[] = [];
  let first = last;
  for (; first.previous !== null; first = first.previous) if (first.edge !== null) edges.unshift(first.edge);
  const start = starts.find(({ state }) => state === first.state);
  const found = states[last.state];
  return {
    what: `reached in ${found === undefined ? 'a state' : describeState(found)}`,
    path: start === undefined ? null : pathOf(start, edges),
  };
}
