import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, EventObject } from 'xstate';
import { runKeyedEffect } from '../../durable/hosted-call.ts';
import { logicOf, replaceLogic } from '../../xstate/actors.ts';
import type { HostedActor, HostedLogic, Microstep } from '../../xstate/port.ts';
import { portOf } from '../../xstate/ports.ts';
import { ATTACHED_LOGIC, eventTypeOf } from '../../xstate/six-machines.ts';
import { activeActors, childOf, nameOfActor, type StandIns } from '../structure/running-actors.ts';
import type { ExploredPlace } from './exploration.ts';
import type { Occurrence } from './occurrences.ts';
import { noteReplaced, runningChild, type StubbedActor, stubActor } from './stub-actors.ts';
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
  continueIn(place: Pick<ExploredPlace, 'snapshot' | 'booked'>): void;
  /** Returns the number of session ids that it and the actors before it have used. XState tells two actors with one id apart by them. */
  sessions(): number;
}

interface Actor6 {
  _snapshot: unknown;
  readonly sessionId: string;
  readonly _send: (event: object) => void;
}

interface Timer6 {
  readonly event: EventObject;
  readonly target: unknown;
}

/** Its first snapshot is that of the real logic. */
const stub = { transition: stubActor.transition } as unknown as HostedLogic;

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
    if (standIn !== undefined) {
      replaceLogic(ref, standIn);
      return;
    }
    noteReplaced(ref, actor.logic as unknown as AnyActorLogic);
    actor.logic = stub;
    // Several steps begin with the same child, so no step may stop it.
    if (!isReal) Object.assign(ref, { _stop: () => {} });
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

  function elapse({ timerId: id, event, name }: Occurrence): string | null {
    const timer = running().find((one) => withoutElapsed([one], { id, event }) !== null);
    if (timer === undefined) return `No timer is running for "${name}"`;
    own._send({ type: 'xstate.timer', id: timer.key });
    return null;
  }

  /** Makes a running child end, or tells the machine that it has. */
  function end({ kind, event, name, actor }: Occurrence, id: string): string | null {
    const { output, error } = event as { readonly output?: unknown; readonly error?: unknown };
    if (!isReal) {
      const child = childOf(snapshot(), id) as unknown as Actor6 | undefined;
      const end = { type: `xstate.${kind}.actor`, actorId: id, sessionId: child?.sessionId };
      own._send({ ...end, ...(kind === 'done' ? { output } : { error }) });
      return null;
    }
    const child = actor === null ? undefined : runningChild(ref, actor);
    if (child === undefined) return `The actor of "${name}" is not running`;
    child.send({ type: `stub.${kind}`, output, error });
    return null;
  }

  function apply(occurrence: Occurrence): string | null {
    const { kind, event, actor, name } = occurrence;
    if (kind === 'delay') return elapse(occurrence);
    if (actor === null) {
      root?.deliver(event);
      return null;
    }
    if (kind === 'done' || kind === 'error') return end(occurrence, actor.id);
    if (isReal && runningChild(ref, actor) === undefined) return `The actor of "${name}" is not running`;
    const isSnapshot = event.type === `xstate.snapshot.${actor.id}`;
    const sent = isSnapshot ? { ...event, type: 'xstate.snapshot.actor', actorId: actor.id } : event;
    own._send(sent);
    return null;
  }

  return {
    ref,
    start: () => void ref.start(),
    continueIn({ snapshot, booked }) {
      own._snapshot = snapshot;
      sessions = booked;
    },
    sessions: () => sessions,
    apply,
    timers: () => running().map(({ id, event }) => ({ id, event })),
    ended: () => activeActors(snapshot()).flatMap((one) => (runningChild(ref, one) === undefined ? [one.id] : [])),
  };
}
