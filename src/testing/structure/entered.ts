import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import { stateKey } from './items.ts';

/** The keys of the states that a machine is in as it begins. */
export const enteredAtStart = ({ root }: AnyStateMachine): readonly string[] => keysOf(withInitial(root));

/**
 * The keys of the states that a transition enters: those on the way down to its targets from the state that it does not leave, and those that
 * the targets begin in. Where a history is a target, that is taken for where its state begins.
 */
export function enteredBy({ source, target, reenter }: AnyTransitionDefinition): readonly string[] {
  const targets = (target ?? []).map((node) => (node.type === 'history' && node.parent ? node.parent : node));
  const domain = domainOf(source, targets, reenter);
  const entered = new Set<AnyStateNode>();
  for (const node of targets) {
    const isKept = node === domain;
    for (const inner of isKept ? withInitial(node).filter((one) => one !== node) : withInitial(node))
      entered.add(inner);
    for (let around = node.parent; around && around !== domain && isWithin(around, domain); around = around.parent)
      for (const one of around.type === 'parallel' ? withOthers(around, targets) : [around]) entered.add(one);
    if (!isKept && domain?.type === 'parallel') for (const one of withOthers(domain, targets)) entered.add(one);
  }
  if (domain !== undefined) entered.delete(domain);
  return keysOf(entered);
}

/** The active states that a transition leaves. */
export function leftBy({ source, target, reenter }: AnyTransitionDefinition, active: readonly AnyStateNode[]) {
  if (target === undefined || target.length === 0) return [];
  const domain = domainOf(source, target, reenter);
  return active.filter((node) => node !== domain && isWithin(node, domain));
}

/** XState's own rule: a transition stays in its source where all targets are in it, and else in what is around both. */
function domainOf(source: AnyStateNode, targets: readonly AnyStateNode[], reenter: boolean): AnyStateNode | undefined {
  const isAround = (node: AnyStateNode, isProper: boolean): boolean =>
    targets.every((target) => isWithin(target, node) && !(isProper && target === node));
  if (!reenter && isAround(source, false)) return source;
  for (let node = source.parent; node !== undefined; node = node.parent) if (isAround(node, true)) return node;
  return undefined;
}

/** With the regions that no target lies in, as they begin. */
const withOthers = (parallel: AnyStateNode, targets: readonly AnyStateNode[]): readonly AnyStateNode[] => [
  parallel,
  ...Object.values(parallel.states)
    .filter((region) => !targets.some((target) => isWithin(target, region)))
    .flatMap(withInitial),
];

/** A state and those that it begins in. */
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
