import {
  type AnyActorRef,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createActor,
  type InspectedMicrostepEvent,
  spawnChild,
} from 'xstate';
import {
  activeNodes,
  type InspectedEvent,
  observedGuard,
  type PrivateActor,
  replaceBehavior,
  transitionsTaken,
} from './actors.ts';
import type { HostedActor, HostedLogic, RootOptions, SystemHooks, XStatePort } from './port.ts';
import {
  type Configuration,
  ENTRY_EVENT,
  initialNodes,
  isInside,
  isMachine,
  sourceNameOf,
  withoutPreempted,
} from './states.ts';

const configurations = new WeakMap<AnyActorRef, Configuration>();

const inspectors = new WeakMap<AnyActorRef['system'], (event: InspectedEvent) => void>();

/** XState 5. */
export const five: XStatePort = {
  described: (machine) => machine,
  activeNodes,
  targetOf: ({ target }) => target,
  observeGuard(transition, { guard, label }, { begin, end }) {
    // Charts name a guard by its function.
    const observed = Object.defineProperty(observedGuard(guard, begin, end), 'name', { value: label });
    replaceBehavior(transition, { guard: observed, actions: transition.actions });
  },
  createRoot(machine, { id, input, snapshot, clock, logger, created, stepped }) {
    const inspect = (event: InspectedEvent): void => {
      if (event.type === '@xstate.actor') {
        const ref = event.actorRef as AnyActorRef;
        inspectors.set(ref.system, inspect);
        created(ref);
      } else if (event.type === '@xstate.microstep') report(event as InspectedMicrostepEvent, stepped);
    };
    return createActor(machine, {
      id,
      ...(snapshot ? { snapshot: snapshot as never } : { input }),
      clock,
      inspect: { next: inspect },
      logger,
    });
  },
  host: (ref, hooks) => hostActor(ref, hooks, inspectors.get(ref.system) ?? (() => {})),
  scheduleOwn,
  versionState: () => ({}),
  continueExactly,
  startInvokesAndDelays,
};

function report(step: InspectedMicrostepEvent, stepped: RootOptions['stepped']): void {
  const actor = step.actorRef as AnyActorRef;
  const enabled = transitionsTaken(step);
  const [first] = enabled;
  const { event, snapshot } = step as unknown as {
    readonly event: AnyEventObject;
    readonly snapshot: AnyMachineSnapshot;
  };
  const { machine } = snapshot;
  if (first === undefined) {
    stepped({ actor, event, machine, taken: [] });
    return;
  }
  const before = configurations.get(actor) ?? { nodes: initialNodes(first.source.machine.root), history: {} };
  remember(actor, snapshot);
  stepped({ actor, event, machine, taken: withoutPreempted(enabled, before) });
}

const remember = (actor: AnyActorRef, { _nodes: nodes, historyValue: history }: AnyMachineSnapshot): void =>
  void configurations.set(actor, { nodes, history });

/** Sends an actor an event of its own after a delay. */
function scheduleOwn(actor: AnyActorRef, event: AnyEventObject, delayMs: number, id: string | undefined): void {
  (actor as unknown as PrivateActor).system.scheduler.schedule(actor, actor, event, delayMs, id);
}

/**
 * Sets the context and the active states of an actor that has not started. The order of the states decides that of eventless transitions and
 * tags. XState restores the states in another order, and mistakes some contexts for references to actors.
 */
function continueExactly(actor: AnyActorRef, ids: readonly string[], context: unknown): void {
  const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
  const nodes = ids.map((id) => snapshot.machine.getStateNodeById(id));
  const tags = new Set(nodes.flatMap((node) => node.tags));
  Object.assign(snapshot, { _nodes: nodes, tags, context });
  remember(actor, snapshot);
}

/** XState caches the transitions of a state by the type of the event. */
const entering = new WeakMap<AnyStateNode, { actions: AnyTransitionDefinition['actions'] }>();

/**
 * Starts the invoked actors and the delays of the active states of a running actor, as entering these states does, but without entry actions
 * and without those that are left out.
 */
function startInvokesAndDelays(actor: HostedActor, isLeftOut: (id: string) => boolean): void {
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

/** Takes over the system of a root actor. */
function hostRoot(ref: AnyActorRef, hooks: SystemHooks, ownInspect: (event: InspectedEvent) => void): void {
  const actor = ref as unknown as PrivateActor;
  const { system } = actor;
  const { _relay: relay, _unregister: unregister, _sendInspectionEvent: sendInspectionEvent, inspect } = system;
  const { schedule } = system.scheduler;
  system._bookId = hooks.nextSessionId;
  // XState copies each event for its inspectors, so they get them only once there are others.
  system._sendInspectionEvent = ownInspect;
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
function hostActor(ref: AnyActorRef, hooks: SystemHooks, inspect: (event: InspectedEvent) => void): HostedActor {
  const actor = ref as unknown as PrivateActor;
  const { system, _actorScope: scope } = actor;
  if (hooks.isRoot) hostRoot(ref, hooks, inspect);
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

function failActor(actor: PrivateActor, error: unknown): void {
  for (const child of Object.values(actor._snapshot.children ?? {})) child?._stop();
  actor._snapshot = { ...actor._snapshot, status: 'error', error } as PrivateActor['_snapshot'];
  if (actor._processingStatus === 1) actor._error(error);
}
