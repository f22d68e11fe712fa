import type {
  ActorRefLike,
  AnyActorLogic,
  AnyActorRef,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  EventObject,
  GuardArgs,
  InspectedMicrostepEvent,
  InspectionEvent,
  MachineContext,
} from 'xstate';
import { spawnChild } from 'xstate';
import { evaluateGuard } from 'xstate/guards';

/**
 * Everything that this product uses of XState beyond its documented API, in one place.
 * Its tests and those of its callers fail if XState changes any of it.
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

/** Returns a guard that evaluates another one, named, inline or composed, and reports the result. */
export function observedGuard(guard: unknown, begin: () => void, end: (holds: boolean) => void): NonNullable<Guard> {
  const check = (snapshot: AnyMachineSnapshot, args: GuardArgs<MachineContext, EventObject>): boolean => {
    begin();
    const holds = evaluateGuard(guard as never, args.context, args.event, snapshot);
    end(holds);
    return holds;
  };
  // XState calls the member `check` of its own guards, such as `and`.
  return Object.assign(() => false, { check, guards: [guard] }) as never;
}

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
    _sendInspectionEvent: (event: InspectedEvent) => void;
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

/** The timers of an actor system. A delayed event is canceled by its `id`. */
export interface SystemTimers {
  readonly schedule: (
    source: AnyActorRef,
    target: AnyActorRef,
    event: AnyEventObject,
    delay: number,
    id?: string,
  ) => void;
  readonly cancel: (source: AnyActorRef, id: string) => void;
  readonly cancelAll: (source: AnyActorRef) => void;
}

/** Takes over the session ids and the timers of an actor system, in the inspection event of its root actor's creation. */
export function takeOverSystem(root: AnyActorRef, nextSessionId: () => string, timers: SystemTimers): void {
  const actor = root as unknown as PrivateActor;
  const { system } = actor;
  actor.sessionId = nextSessionId();
  actor._actorScope.sessionId = actor.sessionId;
  system._bookId = nextSessionId;
  Object.assign(system.scheduler, timers);
}

/**
 * Replaces the logic of an actor, in the inspection event of its creation. Its parent no longer receives an event for each of its snapshots
 * (`onSnapshot`).
 */
export function replaceLogic(ref: AnyActorRef, logic: AnyActorLogic): void {
  Object.assign(ref, { logic, _syncSnapshot: false });
}

/** Makes an actor the parent of an actor of another system. */
export function adopt(parent: AnyActorRef, ref: AnyActorRef): void {
  Object.assign(ref, { _parent: parent });
}

export const logicOf = (ref: AnyActorRef): AnyActorLogic => (ref as unknown as { readonly logic: AnyActorLogic }).logic;

/** Whether the parent of an actor receives an event for each of its snapshots. */
export const syncsSnapshots = (ref: AnyActorRef): boolean =>
  (ref as { readonly _syncSnapshot?: boolean })._syncSnapshot === true;

/** Whether an actor has ever started; true also if it has ended. */
export const hasStarted = (ref: AnyActorRef): boolean => (ref as unknown as PrivateActor)._processingStatus !== 0;

/** Returns the pending delayed events of an actor. Repeated calls return the same objects. */
export function timersOf(ref: AnyActorRef): readonly ScheduledEvent[] {
  const { _scheduledEvents: all } = (ref as unknown as PrivateActor).system._snapshot;
  return Object.values(all).filter(({ source }) => source === ref);
}

/** Times are in milliseconds. */
interface ScheduledEvent {
  readonly source: AnyActorRef;
  readonly event: AnyEventObject;
  readonly startedAt: number;
  readonly delay: number;
}

/** Sends an event as an actor does. */
export function relay(source: AnyActorRef, target: AnyActorRef, event: AnyEventObject): void {
  (source as unknown as PrivateActor).system._relay(source, target, event);
}

/** Sends an actor an event of its own after a delay. */
export function scheduleOwn(actor: AnyActorRef, event: AnyEventObject, delayMs: number, id: string | undefined): void {
  (actor as unknown as PrivateActor).system.scheduler.schedule(actor, actor, event, delayMs, id);
}

/**
 * Sets the context and the active states of an actor that has not started. The order of the states decides that of eventless transitions and
 * tags. XState restores the states in another order, and mistakes some contexts for references to actors.
 */
export function continueExactly(actor: AnyActorRef, ids: readonly string[], context: unknown): void {
  const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
  const nodes = ids.map((id) => snapshot.machine.getStateNodeById(id));
  const tags = new Set(nodes.flatMap((node) => node.tags));
  Object.assign(snapshot, { _nodes: nodes, tags, context });
}

/** The event on which a restored actor starts the invoked actors and delays of its active states. */
export const ENTRY_EVENT = 'xstate.entering';

/** XState caches the transitions of a state by the type of the event. */
const entering = new WeakMap<AnyStateNode, { actions: AnyTransitionDefinition['actions'] }>();

/**
 * Starts the invoked actors and the delays of the active states of a running actor, as entering these states does, but without entry actions
 * and without those that are left out.
 */
export function startInvokesAndDelays(actor: HostedActor, isLeftOut: (id: string) => boolean): void {
  const nodes = activeNodes(actor.ref.getSnapshot() as AnyMachineSnapshot);
  const leaves = nodes.filter(({ states }) => Object.keys(states).length === 0);
  const rest = new Set(nodes);
  for (const leaf of leaves) {
    const own = nodes.filter((node) => rest.has(node) && (node === leaf || isInside(leaf, node)));
    for (const node of own) rest.delete(node);
    const transition = entering.get(leaf) ?? { source: leaf, target: undefined, eventType: ENTRY_EVENT, actions: [] };
    transition.actions = own.flatMap((node) => startsOf(node, isLeftOut));
    entering.set(leaf, transition);
    leaf.transitions.set(ENTRY_EVENT, [transition as unknown as AnyTransitionDefinition]);
  }
  actor.deliver({ type: ENTRY_EVENT });
  for (const leaf of leaves) leaf.transitions.delete(ENTRY_EVENT);
}

/** The actions with which XState starts the delays and the invoked actors of a state that it enters. */
function startsOf(
  { entry, invoke }: AnyStateNode,
  isLeftOut: (id: string) => boolean,
): AnyTransitionDefinition['actions'] {
  const isDelay = ({ type, id }: { readonly type?: string; readonly id?: unknown }): boolean =>
    type === 'xstate.raise' && typeof id === 'string' && id.startsWith('xstate.after.') && !isLeftOut(id);
  return [
    ...entry.filter((action) => isDelay(action as { readonly type?: string })),
    ...invoke
      .filter(({ id }) => !isLeftOut(id))
      .map((invoked) => spawnChild(invoked.src, { ...invoked, syncSnapshot: Boolean(invoked.onSnapshot) } as never)),
  ] as AnyTransitionDefinition['actions'];
}

/** The states that history states return to, in the form from which a snapshot is restored. */
export const historyOf = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly { id: string }[]>> =>
  Object.fromEntries(Object.entries(historyValue).map(([id, nodes]) => [id, nodes.map((node) => ({ id: node.id }))]));

export const systemIdOf = (actor: AnyActorRef): string | undefined =>
  (actor as { readonly systemId?: string }).systemId;

/** Registers exactly these actors under their system ids. */
export function registerSystemIds(system: AnyActorRef['system'], actors: readonly AnyActorRef[]): void {
  const { _set: set, _unregister: unregister } = system as unknown as PrivateActor['system'];
  for (const actor of Object.values(system.getAll() as Record<string, AnyActorRef>)) unregister(actor);
  for (const actor of actors) {
    const systemId = systemIdOf(actor);
    if (systemId !== undefined) set(systemId, actor);
  }
}

/** Frees the system id of an actor. */
export function unregisterActor(system: AnyActorRef['system'], actor: AnyActorRef): void {
  (system as unknown as PrivateActor['system'])._unregister(actor);
}

/** Returns an action that only reports that it runs, also in a pure step: XState resolves such actions and executes none. */
export function reportingAction(report: () => void): AnyTransitionDefinition['actions'][number] {
  const resolve = (_: unknown, snapshot: unknown) => {
    report();
    return [snapshot, undefined, undefined];
  };
  return Object.assign(() => {}, { type: 'xstate.report', resolve });
}

/** The actors of an `invoke` configuration, with their logic if it is inline. */
export function invokedLogics({ config }: AnyStateNode): readonly (string | AnyActorLogic)[] {
  const { invoke = [] } = config as {
    readonly invoke?: { readonly src: string | AnyActorLogic } | readonly { readonly src: string | AnyActorLogic }[];
  };
  return [invoke].flat().map(({ src }) => src);
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

/** Whether logic is a state machine, also of another copy of XState. */
export function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && 'getStateNodeById' in logic;
}

interface LogicSnapshot {
  readonly status: string;
  readonly input?: unknown;
}

export interface HostedLogic {
  readonly start?: (snapshot: LogicSnapshot, scope: ActorScope) => void;
  readonly transition: (snapshot: LogicSnapshot, event: AnyEventObject, scope: ActorScope) => LogicSnapshot;
}

interface CustomAction {
  readonly type: string;
  readonly info: object;
  readonly params: unknown;
  readonly exec?: (info: unknown, params: unknown) => unknown;
}

interface ActorScope {
  sessionId: string;
  defer: (act: () => void) => void;
  emit: (event: AnyEventObject) => void;
  actionExecutor: (action: CustomAction) => void;
}

type Relay = (source: AnyActorRef | undefined, target: AnyActorRef, event: AnyEventObject) => void;

interface PrivateActor {
  logic: HostedLogic;
  sessionId: string;
  readonly src: unknown;
  readonly _parent?: AnyActorRef;
  readonly _actorScope: ActorScope;
  /** 0 before the start, 1 running, 2 stopped. */
  readonly _processingStatus: 0 | 1 | 2;
  _snapshot: LogicSnapshot & { readonly children?: Readonly<Record<string, PrivateActor | undefined>> };
  readonly system: {
    _bookId: () => string;
    _relay: Relay;
    _sendInspectionEvent: (event: InspectedEvent) => void;
    inspect: AnyActorRef['system']['inspect'];
    readonly _set: (id: string, ref: AnyActorRef) => void;
    _unregister: (ref: AnyActorRef) => void;
    readonly _snapshot: { readonly _scheduledEvents: Readonly<Record<string, ScheduledEvent>> };
    readonly scheduler: { schedule: SystemTimers['schedule'] };
  };
  subscribe: (...observers: unknown[]) => unknown;
  on: (type: string, handler: (event: unknown) => void) => unknown;
  stop: () => unknown;
  readonly _stop: () => void;
  readonly _error: (error: unknown) => void;
}

/** A delayed event. `id` cancels it. */
export interface Scheduled {
  readonly source: AnyActorRef;
  readonly target: AnyActorRef;
  readonly event: AnyEventObject;
  readonly id: string | undefined;
}

/** An inspection event before XState copies it for inspectors. */
export type InspectedEvent = Omit<InspectionEvent, 'rootId'>;

/** The hooks of the owner of an actor system. */
export interface SystemHooks {
  readonly isRoot: boolean;
  readonly sessionId: string;
  readonly nextSessionId: () => string;
  /** Receives the inspection events of the system. */
  readonly inspect: (event: InspectedEvent) => void;
  /** Replaces the delivery of events between the actors of the system. `pass` delivers the event. */
  readonly relay: (
    source: AnyActorRef | undefined,
    target: AnyActorRef,
    event: AnyEventObject,
    pass: () => void,
  ) => void;
  /** Called before a delayed event is scheduled. */
  readonly schedule: (scheduled: Scheduled) => void;
  /** Called when an actor of the system has ended, or is about to be stopped. */
  readonly unregister: (ref: AnyActorRef) => void;
  /** Replaces `stop` of the root actor. */
  readonly stop: () => void;
  /** Calls observers, listeners and inspectors. */
  readonly outside: (act: () => void) => void;
  /** Receives what an inspector throws. */
  readonly reportInspector: (error: unknown) => void;
}

/** An actor of a system whose owner decides when it receives events. */
export interface HostedActor {
  readonly ref: AnyActorRef;
  readonly parent: AnyActorRef | undefined;
  readonly isRunning: boolean;
  readonly hasStarted: boolean;
  /** The logic that the actor uses. Replace it before its initial state is computed. */
  logic: HostedLogic | AnyStateMachine;
  /** The name of the logic in the machine that starts the actor, or `inline`. */
  readonly sourceName: string;
  deliver(event: AnyEventObject): void;
  /** Ends the actor and its children with an error, as if its logic had thrown. */
  fail(error: unknown): void;
  stop(): void;
  /** Receives each custom action instead of executing it. `run` executes it. `isNamed`: whether the machine gives it by name. */
  onAction(receive: (action: string, run: (effectKey: string) => unknown, isNamed: boolean) => void): void;
  /** Receives each event that the actor emits, before its listeners. */
  onEmit(receive: (event: AnyEventObject) => void): void;
}

/** Returns the name of an actor's logic in the machine that started the actor, or `inline`. */
export const sourceNameOf = ({ src }: { readonly src?: unknown }): string => (typeof src === 'string' ? src : 'inline');

/** Takes over the system of a root actor. */
function hostRoot(ref: AnyActorRef, hooks: SystemHooks): void {
  const actor = ref as unknown as PrivateActor;
  const { system } = actor;
  const { _relay: relay, _unregister: unregister, _sendInspectionEvent: sendInspectionEvent, inspect } = system;
  const { schedule } = system.scheduler;
  system._bookId = hooks.nextSessionId;
  // XState copies each event for its inspectors, so they get them only once there are others.
  system._sendInspectionEvent = hooks.inspect;
  system.inspect = (observer) => {
    system._sendInspectionEvent = sendInspectionEvent;
    const next = typeof observer === 'function' ? observer : observer.next?.bind(observer);
    const outside = (act: () => void): void => {
      try {
        hooks.outside(act);
      } catch (error) {
        hooks.reportInspector(error);
      }
    };
    const subscription = inspect((event) => outside(() => next?.(event)));
    // Without this, an inspector would show the actor only from its next event on.
    const { showNow } = observer as { readonly showNow?: (actor: AnyActorRef) => void };
    if (typeof showNow === 'function') outside(() => showNow(ref));
    return subscription;
  };
  system._relay = (source, target, event) => hooks.relay(source, target, event, () => relay(source, target, event));
  system.scheduler.schedule = (source, target, event, delay, id) => {
    hooks.schedule({ source, target, event, id });
    schedule(source, target, event, delay, id);
  };
  system._unregister = (ended) => {
    hooks.unregister(ended);
    unregister(ended);
  };
  actor.stop = () => {
    hooks.stop();
    return actor;
  };
}

/** Takes over an actor in the inspection event of its creation, and with the root actor its system. */
export function hostActor(ref: AnyActorRef, hooks: SystemHooks): HostedActor {
  const actor = ref as unknown as PrivateActor;
  const { system, _actorScope: scope } = actor;
  if (hooks.isRoot) hostRoot(ref, hooks);
  actor.sessionId = hooks.sessionId;
  scope.sessionId = hooks.sessionId;
  const { subscribe, on } = actor;
  const outside =
    <Args extends unknown[]>(call: (...args: Args) => void) =>
    (...args: Args): void =>
      hooks.outside(() => call(...args));
  actor.subscribe = (...given) => {
    const [first] = given;
    const observer =
      typeof first === 'object' && first !== null
        ? (first as Partial<Record<'next' | 'error' | 'complete', () => void>>)
        : { next: first as () => void, error: given[1] as () => void, complete: given[2] as () => void };
    const { next, error, complete } = observer;
    // XState calls `next` after each event, and reports errors that no observer takes.
    return subscribe.call(actor, {
      ...(next && { next: outside(next.bind(first)) }),
      ...(error && { error: outside(error.bind(first)) }),
      ...(complete && { complete: outside(complete.bind(first)) }),
    });
  };
  actor.on = (type, handler) => on.call(actor, type, outside(handler));
  return {
    ref,
    parent: actor._parent,
    get isRunning() {
      return actor._processingStatus === 1;
    },
    get hasStarted() {
      return actor._processingStatus !== 0;
    },
    get logic() {
      return actor.logic;
    },
    set logic(logic) {
      actor.logic = logic as HostedLogic;
    },
    sourceName: sourceNameOf(actor),
    deliver(event) {
      // The relay, which reports events to inspectors, is not involved.
      if (isMachine(actor.logic))
        system._sendInspectionEvent({ type: '@xstate.event', actorRef: ref, event } as InspectedEvent);
      (ref as unknown as { _send: (event: AnyEventObject) => void })._send(event);
    },
    fail: (error) => failActor(actor, error),
    stop: () => actor._stop(),
    onAction(receive) {
      const { actionExecutor } = scope;
      scope.actionExecutor = (action) => {
        const { exec } = action;
        if (exec === undefined || action.type.startsWith('xstate.')) return actionExecutor(action);
        const take = (): void => {
          // Without `exec`, XState only reports the action to inspectors.
          actionExecutor({ type: action.type, info: action.info, params: action.params });
          const { actions } = (actor.logic as unknown as AnyStateMachine).implementations;
          const isNamed = actions[action.type] === exec;
          receive(action.type, (effectKey) => exec({ ...action.info, effectKey }, action.params), isNamed);
        };
        if (actor._processingStatus === 1) take();
        else scope.defer(take);
      };
    },
    onEmit(receive) {
      const { emit } = scope;
      scope.emit = (event) => {
        receive(event);
        emit(event);
      };
    },
  };
}

/** Gives each custom action that an actor executes a key, as a durable actor does. Call it in the inspection event of the actor's creation. */
export function keyActions(ref: AnyActorRef, nextKey: () => string): void {
  const { _actorScope: scope } = ref as unknown as PrivateActor;
  const { actionExecutor } = scope;
  scope.actionExecutor = (action) => {
    const { exec } = action;
    if (exec === undefined || action.type.startsWith('xstate.')) return actionExecutor(action);
    actionExecutor({ ...action, exec: (info, params) => exec({ ...Object(info), effectKey: nextKey() }, params) });
  };
}

function failActor(actor: PrivateActor, error: unknown): void {
  for (const child of Object.values(actor._snapshot.children ?? {})) child?._stop();
  actor._snapshot = { ...actor._snapshot, status: 'error', error } as PrivateActor['_snapshot'];
  if (actor._processingStatus === 1) actor._error(error);
}
