import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { guardLabel } from '../../journal/guard-verdicts.ts';
import { groupsOf } from '../anatomy/groups.ts';

/** The candidates of a state for one event, with the place of the first in `Chart.transitions`; the others follow it. */
export interface GroupPlace {
  readonly state: string;
  /** As XState has it; empty for what is taken at once. */
  readonly eventType: string;
  readonly first: number;
  readonly candidates: readonly { readonly guard: string | null; readonly target: readonly string[] }[];
}

/** All groups of candidates of a machine, in the order of its chart. */
export function groupPlaces(machine: AnyStateMachine): readonly GroupPlace[] {
  let first = 0;
  return groupsOf(machine).map(({ node, eventType, candidates }) => {
    const place = { state: node.id, eventType, first, candidates: candidates.map(outline) };
    first += candidates.length;
    return place;
  });
}

const outline = ({ guard, target }: AnyTransitionDefinition) => ({
  guard: guard === undefined ? null : guardLabel(guard),
  target: (target ?? []).map(({ id }) => id),
});
