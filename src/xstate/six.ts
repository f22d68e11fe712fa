import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { HostedActor, HostedLogic, RootOptions, SystemHooks, VersionState, XStatePort } from './port.ts';
import { delaysOf, invokedActor } from './six-entry.ts';
import {
  ATTACHED_LOGIC,
  activeNodes,
  described,
  describedTransitionOf,
  eventFrom,
  eventTypeOf,
  observeTargets,
  originalTransition,
  type Transition6,
  targetOf,
} from './six-machines.ts';
import { isMachine, sourceNameOf, withoutPreempted } from './states.ts';

/** The module `xstate` of version 6. */
export interface XState6 {
  readonly createActor: (logic: never, options: never) => object;
}

/** Returns the port of XState 6, checked with 6.0.0-alpha.52. */
export const sixOf = ({ createActor }: XState6): XStatePort => ({
  described,
  activeNodes,
  targetOf,
  observeGuard(transition, { guard }, { begin, end }) {
    const real = originalTransition(transition);
    if (typeof guard !== 'function') return;
    real.guard = (args) => {
      begin();
      const holds = Boolean(guard(args));
      end(holds);
      return holds;
    };
  },
  createRoot(machine, options) {
    const { id, input, snapshot, clock, logger, created } = options;
    systems.push(options);
    try {
      const given = snapshot === undefined ? { input } : { snapshot: { ...snapshot, version: versionOf(machine) } };
      return createActor(announced(machine, created) as never, { id, clock, logger, ...given } as never) as AnyActorRef;
    } finally {
      systems.pop();
    }
  },
  host,
  scheduleOwn(root, event, delayMs, id = '') {
    const actor = root as unknown as Actor6;
    const raised = eventFrom(machineOf(actor), event);
    const timer = { id, delay: delayMs, type: '@xstate.raise', event: raised, target: 'self' };
    Object.assign(actor._snapshot, { timers: { ...actor._snapshot.timers, [id]: timer } });
    actor.system.schedule(actor, id, delayMs);
  },
  versionState(snapshot) {
    const { _nextTimerId = 0, _nextActorIds, _stateInputs } = snapshot as unknown as Snapshot6;
    const hasInputs = Object.keys(_stateInputs ?? {}).length > 0;
    return {
      ...(_nextTimerId > 0 && { _nextTimerId }),
      ...(_nextActorIds && { _nextActorIds }),
      ...(hasInputs && { stateInputs: _stateInputs }),
    };
  },
  continueExactly(root, ids, context) {
    const snapshot = root.getSnapshot() as AnyMachineSnapshot;
    const nodes = ids.map((id) => snapshot.machine.getStateNodeById(id));
    Object.assign(snapshot, { nodes, tags: new Set(nodes.flatMap(({ tags }) => tags)), context });
  },
  startInvokesAndDelays: ({ ref }, isLeftOut) => startInvokesAndDelays(ref, isLeftOut),
});

function startInvokesAndDelays(ref: AnyActorRef, isLeftOut: (id: string) => boolean): void {
  const actor = ref as unknown as Actor6;
  const machine = machineOf(actor);
  const snapshot = ref.getSnapshot() as AnyMachineSnapshot;
  const nodes = activeNodes(snapshot);
  const invoked = nodes.flatMap(({ invoke }) => invoke).filter(({ id }) => !isLeftOut(id));
  const children = invoked.map((invoke) => {
    const { logic, options } = invokedActor(machine, invoke as never, ref as never);
    return actor.system.createActorRef(logic as Logic, options);
  });
  const named = Object.fromEntries(children.map((child) => [child.id, child]));
  Object.assign(snapshot, { children: { ...snapshot.children, ...named } });
  const delays = delaysOf(
    machine,
    snapshot,
    nodes.map(({ id }) => id),
  ).filter(({ id }) => !isLeftOut(id));
  const timers = delays.map((timer) => [timer.id, { ...timer, type: '@xstate.raise', target: 'self' }]);
  Object.assign(snapshot, { timers: { ...actor._snapshot.timers, ...Object.fromEntries(timers) } });
  for (const { id, delay } of delays) actor.system.schedule(actor, id, delay);
  for (const child of children) actor.system.startActor(child);
}

/** The systems whose root is being created, the innermost last. */
const systems: RootOptions[] = [];

const versionOf = ({ version }: AnyStateMachine & { readonly version?: string }): string | undefined => version;

type Logic = Readonly<Record<string, unknown>> & {
  readonly initialTransition?: (input: unknown, actor: Actor6) => Result;
  readonly getInitialSnapshot?: (actor: Actor6, input: unknown) => Snapshot6;
  readonly transition: (snapshot: Snapshot6, event: AnyEventObject, actor: Actor6) => Result;
  readonly restoreSnapshot?: (snapshot: unknown, actor: Actor6) => Snapshot6;
  readonly start?: (snapshot: Snapshot6, actor: Actor6, options?: { readonly restored: boolean }) => void;
  readonly isInternalEventType?: (type: string) => boolean;
};

type Result = readonly [snapshot: Snapshot6, effects: readonly Effect6[]];

interface Snapshot6 extends VersionState {
  readonly status: string;
  readonly input?: unknown;
  readonly children?: Readonly<Record<string, Actor6 | undefined>>;
  readonly _stateInputs?: object;
  readonly effects?: Readonly<Record<string, { readonly status: string }>>;
  readonly timers?: Readonly<Record<string, { readonly event: AnyEventObject; readonly target: 'self' | Actor6 }>>;
}

interface Effect6 {
  readonly kind: 'action' | 'builtin' | 'emit';
  readonly type: string;
  readonly action?: unknown;
  readonly id?: string;
  readonly event?: AnyEventObject;
  readonly exec: () => unknown;
}

interface Actor6 {
  logic: Logic;
  sessionId: string;
  readonly id: string;
  readonly src: unknown;
  readonly options: { readonly input?: unknown };
  readonly logger: unknown;
  readonly _parent?: Actor6;
  /** 0 before the start, 1 running, 2 stopped. */
  readonly _processingStatus: 0 | 1 | 2;
  readonly _forceDeferredActions: boolean;
  readonly _defer: (act: () => void) => void;
  _lastSourceRef: Actor6 | undefined;
  _snapshot: Snapshot6;
  _executeAction: (effect: Effect6) => void;
  readonly system: System6;
  subscribe: (...observers: unknown[]) => unknown;
  on: (type: string, handler: (event: unknown) => void) => unknown;
  stop: () => unknown;
  readonly _stop: () => void;
  readonly _emit: (event: AnyEventObject) => void;
  readonly _send: (event: AnyEventObject) => void;
  readonly _error: (error: unknown) => void;
  readonly _setErrorSnapshot: (error: unknown) => void;
  readonly _tryHandleExecutionError: (error: unknown) => boolean;
}

interface System6 {
  runtime?: object;
  _clock: object;
  createActorRef: (logic: Logic, options: object) => Actor6;
  readonly startActor: (actor: Actor6) => void;
  schedule: (source: Actor6, id: string, delayMs: number) => void;
  cancel: (source: Actor6, id: string) => void;
  cancelAll: (source: Actor6) => void;
  _unregister: (actor: Actor6) => void;
  readonly deadLetter: (source: undefined, target: Actor6, event: AnyEventObject, reason: string) => void;
  _hasInspectionObservers: () => boolean;
  inspect: (observer: unknown) => unknown;
}

const machineOf = ({ logic }: Actor6): AnyStateMachine => logic as unknown as AnyStateMachine;

/**
 * Returns logic that announces its actor before it computes the initial state, and then uses the logic that the actor has by then. XState 6
 * itself announces actors afterwards.
 */
function announced(logic: AnyStateMachine | Logic, created: RootOptions['created']): AnyStateMachine {
  const own = logic as Logic;
  const current = (actor: Actor6): Logic => {
    created(actor as unknown as AnyActorRef);
    if (actor.logic === announcing) actor.logic = toLogicOfSix(own);
    return actor.logic;
  };
  const announcing = Object.create(own, {
    initialTransition: {
      value: (input: unknown, actor: Actor6) => current(actor).initialTransition?.(inputOf(own, input, actor), actor),
    },
    restoreSnapshot: {
      value: (snapshot: unknown, actor: Actor6) => current(actor).restoreSnapshot?.(snapshot, actor) ?? snapshot,
    },
  });
  originals.set(announcing, own);
  return announcing;
}

const originals = new WeakMap<object, Logic>();

/** What `enq.listen` and `enq.subscribeTo` observe is part of the step. */
function inputOf({ id }: Logic, input: unknown, attached: Actor6): unknown {
  const { actor } = Object(input) as { readonly actor?: Actor6 };
  const inside = actor && unwrapped.get(actor);
  if (!ATTACHED_LOGIC.has(String(id)) || inside === undefined) return input;
  if (id === 'xstate.listener') listened.set(attached, actor as Actor6);
  return { ...(input as object), actor: inside };
}

/** The actors to which `enq.listen` listens: what a call emits comes from the call. */
const listened = new WeakMap<Actor6, Actor6>();

/** Actors whose observers and listeners are called inside of the step. */
const unwrapped = new WeakMap<Actor6, object>();

/** Adapts logic of the form of version 5, such as an approval: it returns snapshots without effects. */
function toLogicOfSix(logic: Logic): Logic {
  const {
    initialTransition,
    getInitialSnapshot,
    transition,
    restoreSnapshot = (snapshot) => snapshot as Snapshot6,
  } = logic;
  if (initialTransition !== undefined || getInitialSnapshot === undefined) return logic;
  return {
    ...logic,
    initialTransition: (input, actor) => [getInitialSnapshot(actor, input), []],
    transition: (snapshot, event, actor) => [
      transition(snapshot, toEventOfFive(event), actor) as unknown as Snapshot6,
      [],
    ],
    restoreSnapshot,
  };
}

/** XState's own events for calls, by their names in version 5. */
const NAMES: Readonly<Record<string, string>> = {
  'xstate.promise.resolve': 'xstate.async.resolve',
  'xstate.promise.reject': 'xstate.async.reject',
  'xstate.stop': '@xstate.stop',
};

const NAMES_OF_FIVE = Object.fromEntries(Object.entries(NAMES).map(([five, six]) => [six, five]));

const renamed = (event: AnyEventObject, type: string): AnyEventObject =>
  type === event.type ? event : { ...event, type };

const toEventOfFive = (event: AnyEventObject): AnyEventObject =>
  renamed(event, NAMES_OF_FIVE[event.type] ?? eventTypeOf(event));

/** The event of a delay of a state. */
const delayed = (event: AnyEventObject): AnyEventObject => {
  const type = eventTypeOf(event);
  return type === event.type ? event : { type };
};

const toEventOfSix = (event: AnyEventObject): AnyEventObject => renamed(event, NAMES[event.type] ?? event.type);

/**
 * Whether logic only computes the next snapshot, so that its transitions are part of a step. Only its initial transition shows this: the
 * logic of a call starts an effect there.
 */
function isReducer(logic: Logic, actor: Actor6): boolean {
  const { config, start, initialTransition } = logic;
  // That of `createLogic` is for restored actors only.
  const isOwnStart = 'id' in logic && typeof Object(config).run === 'function';
  if (start !== undefined && !isOwnStart) return false;
  try {
    const [, effects] = initialTransition?.(actor.options.input, actor) ?? [null, []];
    return effects.every(({ kind }) => kind !== 'action');
  } catch {
    return false;
  }
}

/** An effect of logic that began without one would be executed again in a replay. */
function refuseEffects(actor: Actor6): void {
  const execute = actor._executeAction.bind(actor);
  actor._executeAction = (effect) => {
    if (effect.kind !== 'action' || effect.type === 'xstate.logic.cleanup') return execute(effect);
    throw new PostChainError(
      'not_durable',
      `actor ${actor.id}: its logic started an effect after its initial transition; start it in the initial transition or in a separate actor.`,
    );
  };
}

/** A step of a call (`enq.step`) that its process did not finish begins again: a repeated call would wait for it forever. */
function forgetOpenSteps({ _snapshot }: Actor6, initial: Snapshot6): void {
  const known = Object.keys(initial.effects ?? {});
  const kept = Object.entries(_snapshot.effects ?? {}).filter(
    ([key, { status }]) => status !== 'active' || known.includes(key),
  );
  if (_snapshot.effects !== undefined) Object.assign(_snapshot, { effects: Object.fromEntries(kept) });
}

/** Logic of custom code as version 5 has it: nothing is executed before `start`, and a transition returns a snapshot only. */
function toHostedLogic(logic: Logic, actor: Actor6): HostedLogic {
  const { initialTransition } = logic;
  if (initialTransition === undefined) return logic as unknown as HostedLogic;
  if (ATTACHED_LOGIC.has(String(logic['id']))) return { transition: logic.transition } as never;
  if (isReducer(logic, actor)) {
    refuseEffects(actor);
    return { transition: logic.transition } as never;
  }
  return {
    ...logic,
    start(snapshot: Snapshot6, actor: Actor6) {
      const [initial, effects] = initialTransition(snapshot.input, actor);
      forgetOpenSteps(actor, initial);
      for (const effect of effects) effect.exec();
      logic.start?.(actor._snapshot, actor, { restored: false });
    },
    transition(snapshot: Snapshot6, event: AnyEventObject, actor: Actor6) {
      const [next, effects] = logic.transition(snapshot, toEventOfSix(event), actor);
      for (const effect of effects) if (effect.type !== '@xstate.terminate') effect.exec();
      return next;
    },
  } as unknown as HostedLogic;
}

/** Logic that a host has wrapped, in the form of version 6. */
function fromHostedLogic(wrapped: HostedLogic, original: Logic): Logic {
  return {
    ...toLogicOfSix(original),
    initialTransition(input, actor) {
      const [snapshot] = toLogicOfSix(original).initialTransition?.(input, actor) ?? [{ status: 'active' }];
      const start = () => {
        wrapped.start?.(actor._snapshot, actor as never);
        relayHeldBack(actor);
      };
      return [snapshot, [{ kind: 'builtin', type: 'xstate.start', exec: start }]];
    },
    transition: (snapshot, event, actor) => [
      wrapped.transition(snapshot, toEventOfFive(event), actor as never) as Snapshot6,
      [],
    ],
    start(_, actor, options) {
      if (options?.restored) relayHeldBack(actor);
    },
  };
}

/** The events for custom code that has not started. XState 6 starts children after the other effects of a step. */
const heldBack = new WeakMap<Actor6, (() => void)[]>();

function relayHeldBack(actor: Actor6): void {
  const events = heldBack.get(actor) ?? [];
  heldBack.delete(actor);
  for (const relay of events) relay();
}

function host(ref: AnyActorRef, hooks: SystemHooks): HostedActor {
  const actor = ref as unknown as Actor6;
  const options = systems.at(-1);
  if (hooks.isRoot && options !== undefined) hostSystem(actor, hooks, options);
  actor.sessionId = hooks.sessionId;
  const owner = owners.get(actor.system);
  reportSteps(actor, owner?.stepped ?? (() => {}));
  callOutside(actor, hooks);
  let given = originals.get(actor.logic) ?? actor.logic;
  let inForm: HostedLogic | AnyStateMachine | undefined;
  return {
    ref,
    parent: actor._parent as unknown as AnyActorRef | undefined,
    get isRunning() {
      return actor._processingStatus === 1;
    },
    get hasStarted() {
      return actor._processingStatus !== 0;
    },
    get logic() {
      inForm ??= isMachine(given) ? given : toHostedLogic(given, actor);
      return inForm;
    },
    set logic(logic) {
      actor.logic = isMachine(logic) ? (logic as unknown as Logic) : fromHostedLogic(logic as HostedLogic, given);
      if (!isMachine(logic)) {
        heldBack.set(actor, []);
        return;
      }
      given = logic as unknown as Logic;
      inForm = undefined;
      reportSelections(given);
    },
    sourceName: sourceNameOf(actor),
    deliver(event) {
      const isInternal = actor.logic.isInternalEventType?.(event.type) === true;
      if (isInternal) actor.system.deadLetter(undefined, actor, event, 'internalEvent');
      else deliver(undefined, actor, toEventOfSix(event));
    },
    fail(error) {
      if (actor._processingStatus === 1 && actor._tryHandleExecutionError(error)) return;
      for (const child of Object.values(actor._snapshot.children ?? {})) child?._stop();
      actor._setErrorSnapshot(error);
      if (actor._processingStatus === 1) actor._error(error);
    },
    stop: () => actor._stop(),
    onAction: (receive) => interceptActions(actor, receive),
    onEmit(receive) {
      emitters.set(actor, receive);
    },
  };
}

const owners = new WeakMap<System6, RootOptions>();

const emitters = new WeakMap<Actor6, (event: AnyEventObject) => void>();

function deliver(source: Actor6 | undefined, target: Actor6, event: AnyEventObject): void {
  target._lastSourceRef = source;
  target._send(event);
}

/** Takes over the system of a root actor. */
function hostSystem(root: Actor6, hooks: SystemHooks, options: RootOptions): void {
  const { system } = root;
  const { createActorRef, _unregister: unregister } = system;
  owners.set(system, options);
  system.createActorRef = (logic, given) =>
    createActorRef(announced(logic, options.created) as unknown as Logic, given);
  system.runtime = {
    sendEvent(source: Actor6 | undefined, target: Actor6, event: AnyEventObject) {
      const sender = (source && listened.get(source)) ?? source;
      const relay = () =>
        hooks.relay(sender as never, target as never, toEventOfFive(event), () => deliver(source, target, event));
      const waiting = heldBack.get(target);
      if (waiting === undefined) relay();
      else waiting.push(relay);
    },
    emitEvent(source: Actor6, event: AnyEventObject) {
      emitters.get(source)?.(event);
      source._emit(event);
    },
  };
  system._unregister = (ended) => {
    hooks.unregister(ended as unknown as AnyActorRef);
    unregister.call(system, ended);
  };
  // XState 6 collects microsteps only for inspectors.
  system._hasInspectionObservers = () => true;
  hostTimers(system, hooks, options.clock);
  // Custom code may use the clock of the system, for example the timeout of a call, and its timers are not those of the machine.
  system._clock = { setTimeout, clearTimeout };
  root.stop = () => {
    hooks.stop();
    return root;
  };
}

function hostTimers(system: System6, hooks: SystemHooks, clock: RootOptions['clock']): void {
  const running = new WeakMap<Actor6, Map<string, number>>();
  const timersOf = (source: Actor6): Map<string, number> => {
    const timers = running.get(source) ?? new Map();
    running.set(source, timers);
    return timers;
  };
  system.cancel = (source, id) => {
    const timer = timersOf(source).get(id);
    timersOf(source).delete(id);
    if (timer !== undefined) clock.clearTimeout(timer);
  };
  system.cancelAll = (source) => {
    for (const id of [...timersOf(source).keys()]) system.cancel(source, id);
  };
  system.schedule = (source, id, delayMs) => {
    system.cancel(source, id);
    // A machine that ends in the same step has forgotten its timers.
    const { event, target } = source._snapshot.timers?.[id] ?? {
      event: raised.get(source) ?? { type: id },
      target: 'self',
    };
    const receiver = (target === 'self' ? source : target) as unknown as AnyActorRef;
    hooks.schedule({ source: source as unknown as AnyActorRef, target: receiver, event: delayed(event), id });
    const fire = (): void => {
      timersOf(source).delete(id);
      deliver(source, source, { type: 'xstate.timer', id });
    };
    timersOf(source).set(id, clock.setTimeout(fire, delayMs));
  };
}

/** Reports the microsteps of an actor. XState 6 collects their transitions in a list of the actor. */
function reportSteps(actor: Actor6, stepped: RootOptions['stepped']): void {
  class Collected extends Array<Transition6> {
    override push(...taken: Transition6[]): number {
      const { event, before } = selectionOf(actor);
      const nodes = before === null ? [] : activeNodes(before);
      const machine = described(machineOf(actor));
      stepped({
        actor: actor as unknown as AnyActorRef,
        event: toEventOfFive(event),
        machine,
        taken: withoutPreempted(taken.map(describedTransitionOf), { nodes, history: {} }, targetOf),
      });
      return super.push(...taken);
    }
  }
  const collected = new Collected();
  Object.defineProperty(actor, '_collectedMicrosteps', {
    get: () => collected,
    set: (value: unknown) => {
      if (value === undefined) collected.length = 0;
    },
  });
}

/** The last event for which an actor selected transitions, and its state at that time. */
interface Selection {
  event: AnyEventObject;
  before: AnyMachineSnapshot | null;
}

const selections = new WeakMap<Actor6, Selection>();

const selectionOf = (actor: Actor6): Selection =>
  selections.get(actor) ?? { event: { type: 'xstate.init' }, before: null };

/** Makes a copy of a machine report the event of each microstep. */
function reportSelections(machine: Logic): void {
  if (Object.hasOwn(machine, '_transitionFast')) return;
  observeTargets(machine as unknown as AnyStateMachine);
  const { getTransitionData } = machine as { getTransitionData?: (...args: unknown[]) => unknown };
  Object.assign(machine, {
    getTransitionData(before: AnyMachineSnapshot, event: AnyEventObject, actor: Actor6, ...rest: unknown[]) {
      selections.set(actor, { event, before });
      return getTransitionData?.call(machine, before, event, actor, ...rest);
    },
    // XState's shortcut for simple states bypasses `getTransitionData`.
    _transitionFast: () => undefined,
  });
}

/** The last event that an actor raised with a delay. */
const raised = new WeakMap<Actor6, AnyEventObject>();

/** Passes custom actions to the host instead of executing them. */
function interceptActions(actor: Actor6, receive: Parameters<HostedActor['onAction']>[0]): void {
  const execute = actor._executeAction.bind(actor);
  actor._executeAction = (effect) => {
    const { kind, action } = effect;
    if (effect.type === '@xstate.raise' && effect.event !== undefined) raised.set(actor, effect.event);
    if (kind !== 'action' || action === actor.logger) return execute(effect);
    // XState also reports functions that only compute the next context.
    if (action === undefined) return;
    const actions = Object.entries(described(machineOf(actor)).implementations.actions);
    const [name] = actions.find(([, one]) => one === action) ?? [];
    const take = (): void => receive(name ?? (effect.type || '(anonymous)'), () => effect.exec(), name !== undefined);
    if (actor._processingStatus === 1 && !actor._forceDeferredActions) take();
    else actor._defer(take);
  };
}

/** Calls observers and listeners outside of the step. */
function callOutside(actor: Actor6, { outside }: SystemHooks): void {
  const { subscribe, on } = actor;
  unwrapped.set(
    actor,
    Object.create(actor, { subscribe: { value: subscribe.bind(actor) }, on: { value: on.bind(actor) } }),
  );
  const wrap =
    (call: unknown, self?: unknown) =>
    (...args: unknown[]): void =>
      outside(() => (call as (...given: unknown[]) => void).apply(self, args));
  actor.subscribe = (...given) => {
    const [first, error, complete] = given;
    const observer = (typeof first === 'object' && first !== null ? first : { next: first, error, complete }) as Record<
      string,
      unknown
    >;
    const names = ['next', 'error', 'complete'].filter((name) => typeof observer[name] === 'function');
    return subscribe.call(actor, Object.fromEntries(names.map((name) => [name, wrap(observer[name], observer)])));
  };
  actor.on = (type, handler) => on.call(actor, type, wrap(handler));
}
