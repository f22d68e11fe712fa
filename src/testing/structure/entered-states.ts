import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import {
  type Configuration,
  domainOf,
  initialNodes,
  isInside,
  resolvedTargets,
} from '../../internal/xstate-internals.ts';
import { stateKey } from './coverage-items.ts';

export const statesAtStart = ({ root }: AnyStateMachine): readonly string[] => keysOf(initialNodes(root));

/**
 * Returns the keys of the states that a transition enters: the path from its domain down to its targets, and the initial states of the
 * targets. A history target leads to the states in `history`, or else to its default.
 */
export function statesEnteredBy(
  transition: AnyTransitionDefinition,
  history: Configuration['history'] = {},
): readonly string[] {
  const targets = (transition.target ?? []).flatMap((node) => resolvedTargets(node, history));
  if (targets.length === 0) return [];
  const domain = domainOf(transition, targets);
  const entered = new Set<AnyStateNode>();
  for (const node of targets) {
    for (const inner of initialNodes(node)) entered.add(inner);
    for (let outer = node.parent; outer && outer !== domain; outer = outer.parent)
      for (const one of outer.type === 'parallel' ? withOtherRegions(outer, targets) : [outer]) entered.add(one);
    if (node !== domain && domain?.type === 'parallel')
      for (const one of withOtherRegions(domain, targets)) entered.add(one);
  }
  if (domain !== undefined) entered.delete(domain);
  return keysOf(entered);
}

/** A parallel state and the initial states of those of its regions that contain no target. */
const withOtherRegions = (parallel: AnyStateNode, targets: readonly AnyStateNode[]): readonly AnyStateNode[] => [
  parallel,
  ...Object.values(parallel.states)
    .filter(({ type }) => type !== 'history')
    .filter((region) => !targets.some((target) => target === region || isInside(target, region)))
    .flatMap(initialNodes),
];

const keysOf = (nodes: Iterable<AnyStateNode>): readonly string[] => [...nodes].map(({ id }) => stateKey(id));
