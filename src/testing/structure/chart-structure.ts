import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { Chart } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { requireHostable } from '../../xstate/ports.ts';

/** The candidate transitions of one state for one event, in the order in which XState evaluates them. */
export interface CandidateGroup {
  readonly node: AnyStateNode;
  /** XState's event type; empty for `always`. */
  readonly eventType: string;
  readonly candidates: readonly AnyTransitionDefinition[];
  /** Index of the first candidate in `chartOf(machine).transitions`; the others follow it. */
  readonly first: number;
}

export function candidateGroups(machine: AnyStateMachine): readonly CandidateGroup[] {
  requireHostable(machine);
  let first = 0;
  return nodesOf(machine).flatMap((node) =>
    [...node.transitions, ['', node.always ?? []] as const].map(([eventType, candidates]) => {
      const group = { node, eventType, candidates, first };
      first += candidates.length;
      return group;
    }),
  );
}

/** Returns all transitions of a machine, indexed as in `chartOf(machine).transitions`. */
export const transitionsOf = (machine: AnyStateMachine): readonly AnyTransitionDefinition[] =>
  candidateGroups(machine).flatMap(({ candidates }) => candidates);

/** Formats a transition: `cycling.yield.deciding, always, [confidenceReached] → synthesizing`. */
export function describeTransition({ id, transitions }: Chart, index: number): string {
  const transition = transitions[index];
  if (transition === undefined) return `transition ${index}`;
  const { source, event, guard, target } = transition;
  const short = (state: string): string => (state === id ? state : state.replace(`${id}.`, ''));
  const to = target.length === 0 ? '(no target)' : target.map(short).join(', ');
  return `${short(source)}, ${event === '' ? 'always' : event}${guard === null ? '' : `, [${guard}]`} → ${to}`;
}
