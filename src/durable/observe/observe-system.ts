import type {
  ActorRefLike,
  AnyActorRef,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
  Snapshot,
} from 'xstate';
import { activeNodes, machineOf, parentOf, transitionsTaken } from '../../xstate/actors.ts';
import { type Configuration, candidatesFor, initialNodes, withoutPreempted } from '../../xstate/states.ts';

/** An actor of an observed system. */
export interface ObservedActor {
  readonly ref: AnyActorRef;
  /** The session id of the system's root actor. */
  readonly rootId: string;
  /** Null for a root. */
  readonly parent: ObservedActor | null;
  /** Null if the actor is not a state machine. */
  readonly machine: AnyStateMachine | null;
}

/**
 * A transition that XState considered for an event. `false` and `taken`: its guard was evaluated, or it has none. XState stops at the first
 * guard that holds, so the candidates after it are `not-evaluated`.
 */
export interface ObservedCandidate {
  readonly transition: AnyTransitionDefinition;
  readonly result: 'false' | 'taken' | 'not-evaluated';
}

/** One observation of an actor. Each snapshot is the one directly after it. */
export type Observation =
  /**
   * The actor has started, or is observed from here on (`event` is null). `nodes`: the states of a machine before any transition; `snapshot`
   * may be ahead of them by the eventless transitions that follow.
   */
  | {
      readonly type: 'started';
      readonly actor: ObservedActor;
      readonly event: AnyEventObject | null;
      readonly nodes: readonly AnyStateNode[];
      readonly snapshot: Snapshot<unknown>;
    }
  /** The actor begins to process an event. Its transitions follow. `sender` is null if the event comes from outside. */
  | {
      readonly type: 'event';
      readonly actor: ObservedActor;
      readonly event: AnyEventObject;
      readonly sender: ObservedActor | null;
    }
  /** A transition took effect, even if it only ran actions. The transitions of one microstep share a snapshot. */
  | {
      readonly type: 'transition';
      readonly actor: ObservedActor;
      /** The event of the microstep, such as a raised one. */
      readonly event: AnyEventObject;
      readonly transition: AnyTransitionDefinition;
      /** Those of inner states come first. */
      readonly candidates: readonly ObservedCandidate[];
      readonly snapshot: AnyMachineSnapshot;
    }
  /** A machine processed an event, and no candidate's guard held. */
  | {
      readonly type: 'ignored';
      readonly actor: ObservedActor;
      readonly event: AnyEventObject;
      readonly candidates: readonly ObservedCandidate[];
    }
  /** The actor has processed an event. */
  | { readonly type: 'settled'; readonly actor: ObservedActor; readonly snapshot: Snapshot<unknown> }
  /** The actor is done, stopped or failed: see the status of the snapshot. */
  | { readonly type: 'ended'; readonly actor: ObservedActor; readonly snapshot: Snapshot<unknown> };

/**
 * Returns a function for XState's `inspect` option that reports everything a system of actors does, in order of cause and effect. It changes
 * neither the actors nor their machines. Guard results follow from XState's order of evaluation: it tries the candidates of a state one by
 * one and stops at the first that holds. Errors of `receive` reach the observed program.
 */
export function observeSystem(receive: (observation: Observation) => void): (event: InspectionEvent) => void {
  const observer = new SystemObserver(receive);
  return (event) => observer.inspect(event);
}

class SystemObserver {
  readonly #receive: (observation: Observation) => void;
  readonly #actors = new WeakMap<ActorRefLike, Tracked>();
  /** The actors that are processing an event. XState sends no inspection event if one of them throws. */
  readonly #busy = new Set<Tracked>();
  #isSettling = false;

  constructor(receive: (observation: Observation) => void) {
    this.#receive = receive;
  }

  #track(ref: ActorRefLike, rootId: string, isNew: boolean): Tracked {
    const known = this.#actors.get(ref);
    if (known !== undefined) return known;
    const parentRef = parentOf(ref);
    const parent = parentRef === undefined ? null : this.#track(parentRef, rootId, false);
    const actor: Tracked = {
      ref: ref as AnyActorRef,
      rootId,
      parent,
      machine: machineOf(ref),
      before: { nodes: [], history: {} },
      early: isNew ? [] : null,
      waiting: [],
      ended: false,
    };
    this.#actors.set(ref, actor);
    if (!isNew) this.#start(actor, null);
    return actor;
  }

  #start(actor: Tracked, event: AnyEventObject | null): void {
    const snapshot = actor.ref.getSnapshot() as Snapshot<unknown>;
    const early = actor.early ?? [];
    actor.early = null;
    if (actor.machine !== null)
      actor.before =
        early.length > 0
          ? { nodes: initialNodes(actor.machine.root), history: {} }
          : configurationOf(snapshot as AnyMachineSnapshot);
    this.#receive({ type: 'started', actor, event, nodes: actor.before.nodes, snapshot });
    for (const step of early) this.#take(actor, step);
  }

  #take(actor: Tracked, step: InspectedMicrostepEvent): void {
    const { before } = actor;
    const { event } = step;
    const enabled = transitionsTaken(step);
    const snapshot = step.snapshot as AnyMachineSnapshot;
    actor.before = configurationOf(snapshot);
    for (const transition of withoutPreempted(enabled, before)) {
      const candidates = candidatesOf(transition, event.type, before.nodes);
      this.#receive({ type: 'transition', actor, event, transition, candidates, snapshot });
    }
    if (enabled.length > 0 || actor.machine === null || event.type === STOP) return;
    const candidates = triedIn(actor.machine.root, event.type, new Set(before.nodes)).map(asFalse);
    this.#receive({ type: 'ignored', actor, event, candidates });
  }

  #process(actor: Tracked, { event, sender }: Delivery): void {
    this.#receive({ type: 'event', actor, event, sender });
    this.#work(actor);
  }

  #work(actor: Tracked): void {
    if (actor.ended) return;
    this.#busy.add(actor);
    if (this.#isSettling) return;
    this.#isSettling = true;
    // Each event is processed synchronously, so an actor that is still busy in the next microtask has failed.
    queueMicrotask(() => {
      this.#isSettling = false;
      this.#endFailed();
    });
  }

  /** Reports actors that have ended before XState does, which notifies the parent first. */
  #endFailed(): void {
    for (const actor of this.#busy) {
      const snapshot = actor.ref.getSnapshot() as Snapshot<unknown>;
      if (snapshot.status !== 'active') this.#end(actor, snapshot);
    }
  }

  #end(actor: Tracked, snapshot: Snapshot<unknown>): void {
    this.#busy.delete(actor);
    if (actor.ended) return;
    actor.ended = true;
    this.#receive({ type: 'ended', actor, snapshot });
    for (const delivery of actor.waiting.splice(0)) this.#receive({ type: 'event', actor, ...delivery });
  }

  #settle(actor: Tracked): void {
    const snapshot = actor.ref.getSnapshot() as Snapshot<unknown>;
    if (snapshot.status !== 'active') this.#end(actor, snapshot);
    else {
      this.#busy.delete(actor);
      this.#receive({ type: 'settled', actor, snapshot });
      const next = actor.waiting.shift();
      if (next !== undefined) this.#process(actor, next);
    }
  }

  inspect(event: InspectionEvent): void {
    this.#endFailed();
    const actor = this.#track(event.actorRef, event.rootId, event.type === '@xstate.actor');
    if (event.type === '@xstate.microstep') {
      // A machine takes its first eventless transitions when it is created, before it starts.
      if (actor.early === null) this.#take(actor, event);
      else actor.early.push(event);
    } else if (event.type === '@xstate.snapshot') this.#settle(actor);
    else if (event.type === '@xstate.event') {
      const sender = event.sourceRef === undefined ? null : this.#track(event.sourceRef, event.rootId, false);
      if (actor.early !== null && event.event.type === INIT) {
        this.#start(actor, event.event);
        this.#work(actor);
      } else if (actor.early !== null || this.#busy.has(actor)) actor.waiting.push({ event: event.event, sender });
      else this.#process(actor, { event: event.event, sender });
    }
  }
}

interface Delivery {
  readonly event: AnyEventObject;
  readonly sender: ObservedActor | null;
}

interface Tracked extends ObservedActor {
  before: Configuration;
  /** The microsteps before the start; null once it has started. */
  early: InspectedMicrostepEvent[] | null;
  /** Events that arrived while it processed another one. */
  readonly waiting: Delivery[];
  ended: boolean;
}

const INIT = 'xstate.init';
const STOP = 'xstate.stop';

const configurationOf = (snapshot: AnyMachineSnapshot): Configuration => ({
  nodes: activeNodes(snapshot),
  history: snapshot.historyValue,
});

const asFalse = (transition: AnyTransitionDefinition): ObservedCandidate => ({ transition, result: 'false' });

/** Returns the candidates of a transition that was taken: those of active inner states, and all of its own state. */
function candidatesOf(
  taken: AnyTransitionDefinition,
  eventType: string,
  nodes: readonly AnyStateNode[],
): readonly ObservedCandidate[] {
  const { source } = taken;
  const isEventless = taken.eventType === '';
  const own = isEventless ? (source.always ?? []) : candidatesFor(source, eventType);
  const position = own.indexOf(taken);
  const active = new Set(nodes);
  // A state handles an event only if no state inside of it does. The inner states of an eventless transition may take others.
  const inner = isEventless ? [] : childrenIn(source, active).flatMap((child) => triedIn(child, eventType, active));
  return [
    ...inner.map(asFalse),
    ...own.map((transition, index): ObservedCandidate => {
      if (index < position) return asFalse(transition);
      return { transition, result: index === position ? 'taken' : 'not-evaluated' };
    }),
  ];
}

/** Returns all candidates in and of an active state, in order of evaluation. */
const triedIn = (
  node: AnyStateNode,
  eventType: string,
  active: ReadonlySet<AnyStateNode>,
): readonly AnyTransitionDefinition[] => [
  ...childrenIn(node, active).flatMap((child) => triedIn(child, eventType, active)),
  ...candidatesFor(node, eventType),
];

const childrenIn = (node: AnyStateNode, active: ReadonlySet<AnyStateNode>): readonly AnyStateNode[] =>
  Object.values(node.states).filter((child) => active.has(child));
