import type { AnyMachineSnapshot, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { wildcardFits } from '../../engine/charts/event-fits.ts';
import { activeNodes } from '../structure/nodes.ts';

/**
 * The candidates that were asked where a machine stood, for an event or, where its type is empty, for what is taken at once, and said no:
 * those before the ones that were taken, from each innermost state outwards; all where none was. XState does not tell them, but asks in this
 * order. Of a region that took nothing while another did, nothing is said: its transition may have given way.
 */
export function refusedIn(
  snapshot: AnyMachineSnapshot,
  eventType: string,
  taken: readonly AnyTransitionDefinition[],
): ReadonlySet<AnyTransitionDefinition> {
  const refused = new Set<AnyTransitionDefinition>();
  for (const leaf of activeNodes(snapshot)) {
    if (Object.keys(leaf.states).length > 0) continue;
    const asked = askedFrom(leaf, eventType);
    const end = asked.findIndex((candidate) => taken.includes(candidate));
    if (end < 0 && taken.length > 0) continue;
    for (const candidate of end < 0 ? asked : asked.slice(0, end))
      if (candidate.guard !== undefined) refused.add(candidate);
  }
  return refused;
}

function askedFrom(leaf: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const asked: AnyTransitionDefinition[] = [];
  for (let node: AnyStateNode | undefined = leaf; node !== undefined; node = node.parent)
    asked.push(...(eventType === '' ? (node.always ?? []) : candidatesFor(node, eventType)));
  return asked;
}

/** An event's own first, then those of what fits it, the longest first. */
function candidatesFor({ transitions }: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const own = transitions.get(eventType) ?? [];
  const fitting = [...transitions.keys()].filter((named) => named !== eventType && wildcardFits(named, eventType));
  return [
    ...own,
    ...fitting.sort((one, other) => other.length - one.length).flatMap((named) => transitions.get(named) ?? []),
  ];
}
