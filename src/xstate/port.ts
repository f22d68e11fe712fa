import type {
  AnyActorRef,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
} from 'xstate';

interface CustomAction {
  readonly type: string;
  readonly info: object;
  readonly params: unknown;
  readonly exec?: (info: unknown, params: unknown) => unknown;
}

export interface ActorScope {
  sessionId: string;
  defer: (act: () => void) => void;
  emit: (event: AnyEventObject) => void;
  actionExecutor: (action: CustomAction) => void;
}

export interface LogicSnapshot {
  readonly status: string;
  readonly input?: unknown;
}

export interface HostedLogic {
  readonly start?: (snapshot: LogicSnapshot, scope: ActorScope) => void;
  readonly transition: (snapshot: LogicSnapshot, event: AnyEventObject, scope: ActorScope) => LogicSnapshot;
}

/** A delayed event. `id` cancels it. */
export interface Scheduled {
  readonly source: AnyActorRef;
  readonly target: AnyActorRef;
  readonly event: AnyEventObject;
  readonly id: string | undefined;
}

/** The hooks of the owner of an actor system. */
export interface SystemHooks {
  readonly isRoot: boolean;
  readonly sessionId: string;
  readonly nextSessionId: () => string;
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

/** A microstep of a machine, after the actions of version 5 and before those of version 6. */
export interface Microstep {
  readonly actor: AnyActorRef;
  readonly event: AnyEventObject;
  readonly machine: AnyStateMachine;
  /** The transitions that took effect. */
  readonly taken: readonly AnyTransitionDefinition[];
}

/** Members that only snapshots of XState 6 have: the counters for the ids of timers and children, and the inputs of states. */
export interface VersionState {
  readonly _nextTimerId?: number;
  readonly _nextActorIds?: Readonly<Record<string, number>>;
  /** The inputs of states, by id. */
  readonly stateInputs?: unknown;
}

/** The root of an actor system that a durable actor owns. */
export interface RootOptions {
  readonly id: string;
  readonly input: unknown;
  /** The state in which it continues; undefined for a new actor. */
  readonly snapshot: object | undefined;
  readonly clock: {
    readonly setTimeout: (fire: () => void, delayMs: number) => number;
    readonly clearTimeout: (timer: number) => void;
  };
  readonly logger: (...args: unknown[]) => void;
  /** Called for each actor of the system, before it computes its initial state: `host` takes it over. */
  readonly created: (ref: AnyActorRef) => void;
  readonly stepped: (step: Microstep) => void;
}

/**
 * What the host of durable actors needs of XState. All names of events are those of version 5, such as `xstate.done.actor.pay`, so that a
 * journal does not depend on the version.
 */
export interface XStatePort {
  /**
   * Returns a machine as version 5 describes one: its states, transitions and implementations. All other functions take and return states
   * and transitions of this description.
   */
  described(machine: AnyStateMachine): AnyStateMachine;
  activeNodes(snapshot: AnyMachineSnapshot): readonly AnyStateNode[];
  /** The targets of a transition that was just taken: in version 6, a function may choose them. */
  targetOf(transition: AnyTransitionDefinition): AnyTransitionDefinition['target'];
  /** Makes a transition of a copy of a machine report its guard: when it is evaluated, and the result. */
  observeGuard(
    transition: AnyTransitionDefinition,
    named: { readonly guard: unknown; readonly label: string },
    observer: { readonly begin: () => void; readonly end: (holds: boolean) => void },
  ): void;
  createRoot(machine: AnyStateMachine, options: RootOptions): AnyActorRef;
  host(ref: AnyActorRef, hooks: SystemHooks): HostedActor;
  /** Sends the root an event of its own after a delay. */
  scheduleOwn(root: AnyActorRef, event: AnyEventObject, delayMs: number, id: string | undefined): void;
  /** What a keyframe stores of a snapshot besides value, context, history and timers. */
  versionState(snapshot: AnyMachineSnapshot): VersionState;
  /** Sets the context and the active states of a root that has not started, in this order. */
  continueExactly(root: AnyActorRef, ids: readonly string[], context: unknown): void;
  /** Starts what entering the active states starts, without entry actions. */
  startInvokesAndDelays(root: HostedActor, isLeftOut: (id: string) => boolean): void;
}
