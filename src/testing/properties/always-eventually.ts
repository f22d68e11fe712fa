import type { AnyMachineSnapshot, EventObject } from 'xstate';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { pathTo } from '../exploration/paths.ts';
import type { Property } from './properties.ts';
import { findUnfulfilled } from './unfulfilled.ts';

export interface EventuallyOptions {
  /**
   * Matches actor events that occur only finitely often, for a reason outside the chart. A cycle through one is not a counterexample. A state
   * that only such events leave, and that they lead back to, is one: the machine stays there once they stop.
   */
  readonly finitely?: (event: EventObject) => boolean;
}

/**
 * From every state, the machine reaches a matching state, whatever its actors' outcomes and however long they take, even if nothing more is
 * sent. Fails if the machine can stay in a state forever, or actors and delays can lead it through a cycle. An actor that repeats an event
 * without leaving the state (a stream) is assumed to stop.
 */
export function alwaysEventually(
  name: string,
  matches: (snapshot: AnyMachineSnapshot) => boolean,
  options: EventuallyOptions = {},
): Property {
  requireKnownOptions('alwaysEventually', options, 'finitely');
  const { finitely = () => false } = options;
  return {
    name: `always eventually ${name}`,
    requiresComplete: true,
    check(exploration) {
      const pending = exploration.states
        .filter(({ snapshot }) => !matches(snapshot))
        .map((state) => ({ state, depth: state.depth, path: () => pathTo(exploration, state.id) }));
      return findUnfulfilled(exploration, pending, finitely);
    },
  };
}
