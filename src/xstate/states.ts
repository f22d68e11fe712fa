import type { AnyActorLogic, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** The states and transitions of a machine, as version 5 describes them. */

/** The transitions of a state that may handle an event, in the order in which XState evaluates their guards. */
export function candidatesFor(node: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const { transitions } = node;
  const wildcards: string[] = [];
  for (const descriptor of transitions.keys())
    if (descriptor !== eventType && descriptorMatches(descriptor, eventType)) wildcards.push(descriptor);
  if (wildcards.length === 0) return transitions.get(eventType) ?? [];
  wildcards.sort((one, other) => other.length - one.length);
  return [eventType, ...wildcards].flatMap((descriptor) => transitions.get(descriptor) ?? []);
}

/** Whether a wildcard matches an event: `*` any, `mouse.*` `mouse` and `mouse.move`. */
export const descriptorMatches = (descriptor: string, eventType: string): boolean =>
  descriptor === '*' || (descriptor.endsWith('.*') && `${eventType}.`.startsWith(descriptor.slice(0, -1)));

/** The state of a machine before a microstep, as far as it decides which transitions take effect. */
export interface Configuration {
  readonly nodes: readonly AnyStateNode[];
  readonly history: Readonly<Record<string, readonly AnyStateNode[]>>;
}

/**
 * Returns the transitions that took effect. XState reports all enabled ones, also if one in another parallel region preempts them: two
 * transitions conflict if they exit the same state, and then the inner or else the first one wins.
 */
export function withoutPreempted(
  enabled: readonly AnyTransitionDefinition[],
  before: Configuration,
  targetOf: TargetOf = ({ target }) => target,
): readonly AnyTransitionDefinition[] {
  if (enabled.length < 2) return enabled;
  const exits = new Map(enabled.map((transition) => [transition, exitedBy(transition, before, targetOf)]));
  const winners = new Set<AnyTransitionDefinition>();
  for (const one of enabled) {
    const rivals = [...winners].filter((other) => exits.get(one)?.some((node) => exits.get(other)?.includes(node)));
    const outer = rivals.findIndex(({ source }) => !isInside(one.source, source));
    if (outer !== -1) continue;
    for (const rival of rivals) winners.delete(rival);
    winners.add(one);
  }
  return [...winners];
}

type TargetOf = (transition: AnyTransitionDefinition) => readonly AnyStateNode[] | undefined;

function exitedBy(
  transition: AnyTransitionDefinition,
  { nodes, history }: Configuration,
  targetOf: TargetOf,
): readonly AnyStateNode[] {
  const { source, reenter } = transition;
  const target = targetOf(transition);
  if (target === undefined || target.length === 0) return [];
  const domain = domainOf(
    transition,
    target.flatMap((node) => resolvedTargets(node, history)),
  );
  return nodes.filter((node) => isInside(node, domain) || (reenter && node === source && node === domain));
}

/** The innermost state that stays active during a transition; undefined if the root itself is re-entered. */
export function domainOf(
  { source, reenter }: AnyTransitionDefinition,
  targets: readonly AnyStateNode[],
): AnyStateNode | undefined {
  if (!reenter && targets.every((node) => node === source || isInside(node, source))) return source;
  const [first, ...others] = [...targets, source];
  for (let node = first?.parent; node !== undefined; node = node.parent)
    if (others.every((other) => isInside(other, node))) return node;
  return reenter ? undefined : source.machine.root;
}

/** A history state leads to the states that were active when its parent was left, or else to its default. */
export function resolvedTargets(node: AnyStateNode, history: Configuration['history']): readonly AnyStateNode[] {
  if (node.type !== 'history') return [node];
  const parent = node.parent as AnyStateNode;
  const { target = [] } = node.config as { readonly target?: string | readonly string[] };
  const named = [target].flat().map((path) => nodeAt(parent, path));
  const defaults = named.length > 0 ? named : parent.type === 'parallel' ? [parent] : parent.initial.target;
  return history[node.id] ?? defaults.flatMap((next) => resolvedTargets(next, history));
}

const nodeAt = (parent: AnyStateNode, path: string): AnyStateNode =>
  path.startsWith('#')
    ? parent.machine.getStateNodeById(path)
    : path.split('.').reduce((node, key) => node.states[key] as AnyStateNode, parent);

/** Whether a state is a proper descendant of another. All states are inside of `undefined`. */
export function isInside(node: AnyStateNode, ancestor: AnyStateNode | undefined): boolean {
  let at = node.parent;
  while (at !== undefined && at !== ancestor) at = at.parent;
  return at === ancestor;
}

/** A state and the states that are entered with it first, before any eventless transition. */
export function initialNodes(node: AnyStateNode): readonly AnyStateNode[] {
  const regions = Object.values(node.states).filter(({ type }) => type !== 'history');
  if (node.type === 'parallel') return [node, ...regions.flatMap(initialNodes)];
  if (node.type !== 'compound') return [node];
  const targets = node.initial.target.flatMap((target) => resolvedTargets(target, {}));
  return [node, ...targets.flatMap((target) => [...statesBetween(target, node), ...initialNodes(target)])];
}

/** An initial state may be the descendant of a child. */
function statesBetween(inner: AnyStateNode, outer: AnyStateNode): readonly AnyStateNode[] {
  const nodes: AnyStateNode[] = [];
  for (let node = inner.parent; node !== undefined && node !== outer; node = node.parent) nodes.unshift(node);
  return nodes;
}

/** The states that history states return to, in the form from which a snapshot is restored. */
export const historyOf = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly { id: string }[]>> =>
  Object.fromEntries(Object.entries(historyValue).map(([id, nodes]) => [id, nodes.map((node) => ({ id: node.id }))]));

/** The actors of an `invoke` configuration, with their logic if it is inline. */
export function invokedLogics({ config }: AnyStateNode): readonly (string | AnyActorLogic)[] {
  const { invoke = [] } = config as {
    readonly invoke?: { readonly src: string | AnyActorLogic } | readonly { readonly src: string | AnyActorLogic }[];
  };
  return [invoke].flat().map(({ src }) => src);
}

/** Whether logic is a state machine, also of another copy of XState. */
export function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && 'getStateNodeById' in logic;
}

/** Returns the name of an actor's logic in the machine that started the actor, or `inline`. */
export const sourceNameOf = ({ src }: { readonly src?: unknown }): string => (typeof src === 'string' ? src : 'inline');

/** The event on which a restored actor starts the invoked actors and delays of its active states. */
export const ENTRY_EVENT = 'xstate.entering';
