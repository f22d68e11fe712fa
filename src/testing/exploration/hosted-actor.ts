import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { runKeyedEffect } from '../../durable/hosted-call.ts';
import { logicOf, replaceLogic } from '../../xstate/actors.ts';
import type { HostedActor, HostedLogic, Microstep } from '../../xstate/port.ts';
import { isXState6, portOf } from '../../xstate/ports.ts';
import { ATTACHED_LOGIC, eventTypeOf } from '../../xstate/six-machines.ts';
import type { InstrumentedMachine } from '../structure/instrumented-machine.ts';
import { activeActors, childOf, nameOfActor, refsIn, type StandIns } from '../structure/running-actors.ts';
import type { ExploredPlace } from './exploration.ts';
import type { Occurrence } from './occurrences.ts';
import {
  createStubbedActor,
  noteReplaced,
  runningChild,
  type StubbedActor,
  type StubOptions,
  stubActor,
} from './stub-actors.ts';
import { type Delayed, withoutElapsed } from './timers.ts';

interface HostedActorOptions {
  /** The machine with the real logic of its actors. */
  readonly original: AnyStateMachine;
  readonly input: unknown;
  readonly standIns: StandIns;
  /** Receives the microsteps of the machine, but not those of its children. */
  readonly stepped: (step: Microstep) => void;
  /** Returns what the machine sees of the snapshot of a stub. Default: the snapshot. */
  readonly seen?: (snapshot: object, ref: AnyActorRef) => object;
  /** Whether custom actions are executed, and children and timers are real. Default: false. */
  readonly isReal?: boolean;
}

/** An actor of XState 6 that a test leads. */
export interface HostedStubbedActor extends StubbedActor {
  /** Continues it in a place that another actor of the machine has reached, whose children no longer do anything. */
  continueIn(place: ExploredPlace): void;
  /** Returns the number of session ids that it and the actors before it have used. XState tells two actors with one id apart by them. */
  sessions(): number;
}

interface Actor6 {
  _snapshot: unknown;
  readonly sessionId: string;
  /** Its system id. */
  readonly registryKey?: string;
  readonly system: { keyedActors: ReadonlyMap<string | undefined, AnyActorRef> };
  readonly _send: (event: object) => void;
}

interface Timer6 {
  readonly event: EventObject;
  readonly target: unknown;
}

/** Its first snapshot is that of the real logic. */
const stub = { transition: stubActor.transition } as unknown as HostedLogic;

/** Returns logic of XState 6 that has only its first snapshot, and starts nothing. */
const inert = (logic: AnyActorLogic): AnyActorLogic => {
  const { initialTransition } = logic as object as { initialTransition: (...args: unknown[]) => readonly object[] };
  const first = (...args: unknown[]) => [initialTransition.apply(logic, args)[0], []];
  return { ...logic, initialTransition: first, transition: (snapshot: object) => [snapshot, []] } as never;
};

/** XState 6 numbers the timers that a machine gives no id. */
const isGenerated = (id: string): boolean => id.startsWith('xstate.timer.auto.');

/**
 * Creates an actor of XState 6 with stubs for all actors that its machine starts, except the stand-ins. It runs on the port through which
 * durable actors run. No time passes.
 */
export function createHostedActor(machine: AnyStateMachine, options: HostedActorOptions): HostedStubbedActor {
  const { original, input, standIns, stepped, seen, isReal = false } = options;
  const port = portOf(machine);
  let root: HostedActor | null = null;
  let sessions = 0;
  let effects = 0;

  function created(ref: AnyActorRef): void {
    const isRoot = root === null;
    const actor = port.host(ref, {
      isRoot,
      sessionId: `x:${sessions}`,
      nextSessionId: () => `x:${sessions}`,
      relay: (_source, _target, _event, pass) => pass(),
      schedule: () => {},
      unregister: () => {},
      stop: () => {},
      outside: (act) => act(),
      reportInspector: () => {},
    });
    sessions += 1;
    if (isRoot) lead(ref, actor);
    else replaceChild(ref, actor);
  }

  function lead(ref: AnyActorRef, actor: HostedActor): void {
    root = actor;
    actor.logic = machine;
    actor.onAction((_action, run) => {
      if (!isReal) return;
      const key = `test:effect:${effects}`;
      effects += 1;
      runKeyedEffect(ref, key, () => run(key));
    });
  }

  function replaceChild(ref: AnyActorRef, actor: HostedActor): void {
    if (ATTACHED_LOGIC.has(String((logicOf(ref) as { readonly id?: string }).id))) return;
    const standIn = standIns[ref.id] ?? standIns[nameOfActor(original, ref)];
    if (standIn !== undefined) replaceLogic(ref, isReal ? standIn : inert(standIn));
    // Several steps begin with the same child, so no step may stop it.
    if (!isReal) Object.assign(ref, { _stop: () => {} });
    if (standIn !== undefined) return;
    noteReplaced(ref, actor.logic as unknown as AnyActorLogic);
    actor.logic = stub;
    const { getSnapshot } = ref;
    if (seen !== undefined) Object.assign(ref, { getSnapshot: () => seen(getSnapshot.call(ref), ref) });
  }

  const ref = port.createRoot(machine, {
    id: original.id,
    input,
    snapshot: undefined,
    logger: () => {},
    created,
    stepped: (step) => {
      if (step.actor === root?.ref) stepped(step);
    },
    clock: { setTimeout: () => 0, clearTimeout: () => {} },
  });
  // Without an observer, XState would rethrow the error.
  ref.subscribe({ error: () => {} });

  const own = ref as unknown as Actor6;
  const snapshot = (): AnyMachineSnapshot => ref.getSnapshot() as AnyMachineSnapshot;

  function running(): readonly (Delayed & { readonly key: string })[] {
    const { timers = {}, status } = snapshot() as unknown as { timers?: Record<string, Timer6>; status: string };
    if (status !== 'active') return [];
    const isOwn = ({ target }: Timer6): boolean => target === 'self' || target === ref;
    return Object.entries(timers).flatMap(([key, timer]) => {
      const type = eventTypeOf(timer.event);
      const event = type === timer.event.type ? timer.event : { type };
      return isOwn(timer) ? [{ key, id: isGenerated(key) ? undefined : key, event }] : [];
    });
  }

  function apply({ kind, event, actor, name, timerId }: Occurrence): string | null {
    if (kind === 'delay') {
      const timer = running().find((one) => withoutElapsed([one], { id: timerId, event }) !== null);
      if (timer === undefined) return `No timer is running for "${name}"`;
      own._send({ type: 'xstate.timer', id: timer.key });
      return null;
    }
    if (actor === null) {
      root?.deliver(event);
      return null;
    }
    const { id } = actor;
    const child = isReal ? runningChild(ref, actor) : childOf(snapshot(), id);
    if (isReal && child === undefined) return `The actor of "${name}" is not running`;
    const isEnd = kind === 'done' || kind === 'error';
    if (isReal && isEnd) child?.send({ ...event, type: `stub.${kind}` });
    else if (isEnd) own._send({ ...event, type: `xstate.${kind}.actor`, sessionId: child?.sessionId });
    else if (event.type === `xstate.snapshot.${id}`)
      own._send({ ...event, type: 'xstate.snapshot.actor', actorId: id, sessionId: child?.sessionId });
    else own._send(event);
    return null;
  }

  return {
    ref,
    start: () => void ref.start(),
    continueIn({ snapshot, booked, ended }) {
      own._snapshot = snapshot;
      sessions = booked;
      const running = refsIn(snapshot.children).filter(({ id }) => !ended.includes(id));
      const keyed = running.map((child) => [(child as unknown as Actor6).registryKey, child] as const);
      own.system.keyedActors = new Map(keyed.filter(([key]) => key !== undefined));
    },
    sessions: () => sessions,
    apply,
    timers: () => running().map(({ id, event }) => ({ id, event })),
    ended: () => activeActors(snapshot()).flatMap((one) => (runningChild(ref, one) === undefined ? [one.id] : [])),
  };
}

/**
 * Creates an actor of a machine, of either version of XState, with stubs for all actors that it starts, except the stand-ins. Throws
 * `invalid_option` for `inspect` with a machine of XState 6.
 */
export function createTestedActor(
  { machine, stepped }: InstrumentedMachine<AnyStateMachine>,
  options: StubOptions,
): StubbedActor {
  const { original, input, standIns = {}, inspect } = options;
  if (!isXState6(machine)) return createStubbedActor(machine, options);
  if (inspect !== undefined)
    throw new PostChainError(
      'invalid_option',
      `"inspect" does not work with ${original.id}, a machine of XState 6; leave it out, and use cover() and its paths to measure coverage`,
    );
  return createHostedActor(machine, { original, input, standIns, stepped, isReal: true });
}
