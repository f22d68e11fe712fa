import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { stateKey } from './coverage-items.ts';

export const statesAtStart = ({ root }: AnyStateMachine): readonly string[] => keysOf(withInitial(root));

/**
 * Returns the keys of the states that a transition enters: the path from its domain down to its targets, and the initial states of the
 * targets. A history target counts as its parent's initial state.
 */
export function statesEnteredBy({ source, target, reenter }: AnyTransitionDefinition): readonly string[] {
  const targets = (target ?? []).map((node) => (node.type === 'history' && node.parent ? node.parent : node));
  const domain = domainOf(source, targets, reenter);
  const entered = new Set<AnyStateNode>();
  for (const node of targets) {
    for (const inner of withInitial(node)) entered.add(inner);
    for (let outer = node.parent; outer && outer !== domain && isWithin(outer, domain); outer = outer.parent)
      for (const one of outer.type === 'parallel' ? withOtherRegions(outer, targets) : [outer]) entered.add(one);
    if (node !== domain && domain?.type === 'parallel')
      for (const one of withOtherRegions(domain, targets)) entered.add(one);
  }
  if (domain !== undefined) entered.delete(domain);
  return keysOf(entered);
}

export function statesLeftBy({ source, target, reenter }: AnyTransitionDefinition, active: readonly AnyStateNode[]) {
  if (target === undefined || target.length === 0) return [];
  const domain = domainOf(source, target, reenter);
  return active.filter((node) => node !== domain && isWithin(node, domain));
}

/** XState's rule for the transition domain: the source if it contains all targets, otherwise their least common ancestor. */
function domainOf(source: AnyStateNode, targets: readonly AnyStateNode[], reenter: boolean): AnyStateNode | undefined {
  if (!reenter && targets.every((target) => isWithin(target, source))) return source;
  const containsAll = (node: AnyStateNode): boolean =>
    targets.every((target) => target !== node && isWithin(target, node));
  for (let node = source.parent; node !== undefined; node = node.parent) if (containsAll(node)) return node;
  return undefined;
}

/** A parallel state and the initial states of those of its regions that contain no target. */
const withOtherRegions = (parallel: AnyStateNode, targets: readonly AnyStateNode[]): readonly AnyStateNode[] => [
  parallel,
  ...Object.values(parallel.states)
    .filter((region) => !targets.some((target) => isWithin(target, region)))
    .flatMap(withInitial),
];

function withInitial(node: AnyStateNode): readonly AnyStateNode[] {
  if (node.type === 'parallel') return [node, ...Object.values(node.states).flatMap(withInitial)];
  if (node.type !== 'compound') return [node];
  return [node, ...node.initial.target.flatMap((target) => [...between(target, node), ...withInitial(target)])];
}

function between(inner: AnyStateNode, outer: AnyStateNode): readonly AnyStateNode[] {
  const nodes: AnyStateNode[] = [];
  for (let node = inner.parent; node !== undefined && node !== outer; node = node.parent) nodes.push(node);
  return nodes;
}

export function isWithin(node: AnyStateNode, outer: AnyStateNode | undefined): boolean {
  if (outer === undefined) return true;
  for (let at: AnyStateNode | undefined = node; at !== undefined; at = at.parent) if (at === outer) return true;
  return false;
}

const keysOf = (nodes: Iterable<AnyStateNode>): readonly string[] => [...nodes].map(({ id }) => stateKey(id));
