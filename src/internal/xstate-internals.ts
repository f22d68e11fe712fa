import type {
  ActorRefLike,
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
} from 'xstate';

/**
 * Everything that this product uses of XState beyond its documented API, in one place.
 * `test/src/internal/xstate-internals.test.ts` fails if XState changes any of it.
 */

type Guard = AnyTransitionDefinition['guard'];

/** The active state nodes of a snapshot, each parent before its children. The public `snapshot.value` has only their keys. */
export function activeNodes(snapshot: AnyMachineSnapshot): readonly AnyStateNode[] {
  return snapshot._nodes;
}

/**
 * The transitions that a microstep took. XState never emits its documented `@xstate.transition` event, so this field is
 * the only record of them.
 */
export function transitionsTaken(microstep: InspectedMicrostepEvent): readonly AnyTransitionDefinition[] {
  return microstep._transitions;
}

/** The transitions of a state that may handle an event, in the order in which XState evaluates their guards. */
export function candidatesFor(node: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const matching = [...node.transitions.keys()].filter((descriptor) => matches(descriptor, eventType));
  const longestFirst = (one: string, other: string): number => other.length - one.length;
  const wildcards = matching.filter((descriptor) => descriptor !== eventType).sort(longestFirst);
  return [eventType, ...wildcards].flatMap((descriptor) => node.transitions.get(descriptor) ?? []);
}

const matches = (descriptor: string, eventType: string): boolean =>
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
): readonly AnyTransitionDefinition[] {
  if (enabled.length < 2) return enabled;
  const exits = new Map(enabled.map((transition) => [transition, exitedBy(transition, before)]));
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

function exitedBy(transition: AnyTransitionDefinition, { nodes, history }: Configuration): readonly AnyStateNode[] {
  const { target, source, reenter } = transition;
  if (target === undefined || target.length === 0) return [];
  const domain = domainOf(
    transition,
    target.flatMap((node) => resolvedTargets(node, history)),
  );
  return nodes.filter((node) => isInside(node, domain) || (reenter && node === source && node === domain));
}

/** The innermost state that stays active during a transition; undefined if the root itself is re-entered. */
function domainOf(
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
function resolvedTargets(node: AnyStateNode, history: Configuration['history']): readonly AnyStateNode[] {
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
function isInside(node: AnyStateNode, ancestor: AnyStateNode | undefined): boolean {
  let at = node.parent;
  while (at !== undefined && at !== ancestor) at = at.parent;
  return at === ancestor;
}

/** The states that a machine enters first, before any eventless transition. */
export function initialNodes(node: AnyStateNode): readonly AnyStateNode[] {
  const children = Object.values(node.states).filter(({ type }) => type !== 'history');
  const first = node.type === 'parallel' ? children : node.type === 'compound' ? node.initial.target : [];
  return [node, ...first.flatMap((child) => resolvedTargets(child, {})).flatMap(initialNodes)];
}

/** The machine that an actor runs, also one of another copy of XState; null if the actor runs none. */
export function machineOf(actor: ActorRefLike): AnyStateMachine | null {
  const { logic } = actor as unknown as { readonly logic?: AnyStateMachine & { readonly __xstatenode?: boolean } };
  return logic?.__xstatenode === true ? logic : null;
}

/** The actor that invoked or spawned an actor; undefined for a root. */
export function parentOf(actor: ActorRefLike): AnyActorRef | undefined {
  return (actor as { readonly _parent?: AnyActorRef })._parent;
}

/**
 * Sends only these events to the inspectors of an actor's system, until another inspector subscribes. XState creates a copy of each of
 * the many events, even if no inspector reads it.
 */
export function limitInspection(actor: AnyActorRef, types: ReadonlySet<InspectionEvent['type']>): void {
  const system = actor.system as AnyActorRef['system'] & {
    _sendInspectionEvent: (event: Omit<InspectionEvent, 'rootId'>) => void;
  };
  const { inspect, _sendInspectionEvent: send } = system;
  system._sendInspectionEvent = (event) => {
    if (types.has(event.type)) send(event);
  };
  system.inspect = (observer) => {
    system._sendInspectionEvent = send;
    return inspect(observer);
  };
}

/** Whether a delayed event of this type is scheduled in the actor's system. There is no public way to list timers. */
export function isScheduled(actor: AnyActorRef, eventType: string): boolean {
  const { _scheduledEvents: scheduled } = actor.system.getSnapshot();
  return Object.values(scheduled).some(({ event }) => event.type === eventType);
}

/** The names of the actors given to `setup` or `provide`. A machine does not list its implementations publicly. */
export function actorNames(machine: AnyStateMachine): readonly string[] {
  return Object.keys(machine.implementations.actors);
}

/** Replaces a state's candidates for one event, or its `always` transitions if the event type is empty. Changes the node. */
export function replaceCandidates(
  node: AnyStateNode,
  eventType: string,
  candidates: readonly AnyTransitionDefinition[],
): void {
  if (eventType === '') node.always = [...candidates];
  else if (candidates.length === 0) node.transitions.delete(eventType);
  else node.transitions.set(eventType, [...candidates]);
}

/**
 * Replaces the guard and the actions of a transition. Changes the transition: `provide` replaces implementations by name
 * only, which misses inline guards and cannot tell two transitions with the same guard apart.
 */
export function replaceBehavior(
  transition: AnyTransitionDefinition,
  { guard, actions }: { readonly guard: Guard | undefined; readonly actions: AnyTransitionDefinition['actions'] },
): void {
  if (guard !== undefined) transition.guard = guard;
  transition.actions = actions;
}
