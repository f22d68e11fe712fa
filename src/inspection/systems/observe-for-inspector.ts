import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, InspectionEvent, Snapshot } from 'xstate';
import { chartOf, invokeLabels } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { guardLabel } from '../../durable/charts/guard-label.ts';
import {
  type Observation,
  type ObservedActor,
  type ObservedCandidate,
  observeSystem,
} from '../../durable/observe/observe-system.ts';
import { plainJson } from '../../internal/plain-json.ts';
import { oneLine } from '../../internal/printable.ts';
import { activeNodes, hasStarted, parentOf, timersOf } from '../../xstate/actors.ts';
import type { SystemMessage } from './messages.ts';

/** A function for XState's `inspect` option. */
export interface Inspect {
  (event: InspectionEvent): void;
  /** Shows the system of a running actor immediately, not only from its next event on. Takes an XState or a durable actor. */
  watch(actor: AnyActorRef | { readonly ref: AnyActorRef }): void;
}

/**
 * Returns a function for XState's `inspect` option that describes what it observes as messages. It never throws, because an error in an
 * inspector would stop the actors: it warns and observes nothing more.
 */
export function observeForInspector(send: (message: SystemMessage) => void): Inspect {
  const writer = new MessageWriter(send);
  const observe = observeSystem((observation) => writer.write(observation));
  let hasFailed = false;

  function safely(act: () => void): void {
    if (hasFailed) return;
    try {
      act();
    } catch (error) {
      hasFailed = true;
      warn(`The actors are not shown in the inspector any more: ${String(error)}`);
    }
  }

  /** Observes a snapshot of an actor and of its children: it introduces an unknown actor, and shows how an ended one ended. */
  function showNow(ref: AnyActorRef): void {
    if (!hasStarted(ref)) return;
    const snapshot = ref.getSnapshot();
    const { children = {} } = snapshot as Partial<AnyMachineSnapshot>;
    const { sessionId: rootId } = rootRefOf(ref);
    const event = { type: 'xstate.init' };
    observe({ type: '@xstate.snapshot', actorRef: ref, rootId, event, snapshot });
    for (const child of Object.values(children as Readonly<Record<string, AnyActorRef | undefined>>))
      if (child !== undefined) showNow(child);
  }

  const inspect = (event: InspectionEvent): void => safely(() => observe(event));
  return Object.assign(inspect, {
    showNow: (ref: AnyActorRef) => safely(() => showNow(rootRefOf(ref))),
    watch(actor: AnyActorRef | { readonly ref: AnyActorRef }) {
      const ref = 'ref' in actor ? (actor.ref as AnyActorRef) : actor;
      ref.system.inspect(inspect);
      safely(() => showNow(rootRefOf(ref)));
    },
  });
}

function rootRefOf(ref: AnyActorRef): AnyActorRef {
  const parent = parentOf(ref);
  return parent === undefined ? ref : rootRefOf(parent);
}

export function warn(message: string): void {
  const { process } = globalThis as { readonly process?: Pick<NodeJS.Process, 'emitWarning'> };
  process?.emitWarning(oneLine(message), { code: 'POSTCHAIN_INSPECTOR' });
}

type WithoutCommon<Message> = Message extends unknown ? Omit<Message, 'system' | 'at'> : never;

/** Writes the messages that describe what is observed of the actors of any number of systems. */
class MessageWriter {
  readonly #send: (message: SystemMessage) => void;
  /** The machines that were sent, by the root of their system. */
  readonly #sent = new WeakMap<ObservedActor, Map<AnyStateMachine, number>>();
  readonly #closed = new WeakSet<ObservedActor>();
  /** The context of each actor as it was last sent, as JSON text. */
  readonly #contexts = new WeakMap<ObservedActor, string>();
  readonly #timers = new WeakSet<object>();

  constructor(send: (message: SystemMessage) => void) {
    this.#send = send;
  }

  #sayOf(actor: ObservedActor) {
    const { rootId: system } = actor;
    return (message: WithoutCommon<SystemMessage>): void =>
      this.#send({ ...message, system, at: Date.now() } as SystemMessage);
  }

  #sendContext(actor: ObservedActor, snapshot: Snapshot<unknown>): void {
    if (!('context' in snapshot)) return;
    const context = plainJson(snapshot.context) ?? null;
    const text = JSON.stringify(context);
    if (this.#contexts.get(actor) === text) return;
    this.#contexts.set(actor, text);
    this.#sayOf(actor)({ type: 'context', actor: idOf(actor), context });
  }

  #sendTimers(actor: ObservedActor): void {
    for (const timer of timersOf(actor.ref)) {
      const due = timer.startedAt + timer.delay;
      if (this.#timers.has(timer) || !(due >= 0 && due <= LAST_MS)) continue;
      this.#timers.add(timer);
      this.#sayOf(actor)({ type: 'timer', actor: idOf(actor), event: timer.event.type, due });
    }
  }

  #machineNumber(actor: ObservedActor, machine: AnyStateMachine): number {
    const root = rootOf(actor);
    const machines = this.#sent.get(root) ?? new Map<AnyStateMachine, number>();
    this.#sent.set(root, machines);
    const number = machines.get(machine) ?? machines.size;
    if (number === machines.size) this.#sayOf(actor)({ type: 'machine', machine: number, chart: chartOf(machine) });
    machines.set(machine, number);
    return number;
  }

  #sendStart({ actor, event, nodes, snapshot }: Extract<Observation, { type: 'started' }>): void {
    const { machine, parent } = actor;
    this.#sayOf(actor)({
      type: 'actor',
      actor: idOf(actor),
      name: nameOf(actor),
      parent: parent && idOf(parent),
      machine: machine && this.#machineNumber(actor, machine),
      src: invokedSrc(actor),
      event: event && eventJson(event),
      leaves: leavesOf(nodes),
    });
    this.#sendContext(actor, snapshot);
    this.#sendTimers(actor);
    const say = this.#sayOf(actor);
    if (machine !== null)
      actor.ref.on('*', (emitted) => say({ type: 'emitted', actor: idOf(actor), event: eventJson(emitted) }));
  }

  #sendTransition({ actor, event, transition, candidates, snapshot }: Extract<Observation, { type: 'transition' }>) {
    this.#sayOf(actor)({
      type: 'transition',
      actor: idOf(actor),
      event: event.type,
      source: transition.source.id,
      target: idsOf(transition.target),
      candidates: candidates.map(candidateJson),
      leaves: leavesOf(activeNodes(snapshot)),
    });
    this.#sendContext(actor, snapshot);
  }

  #sendEnd(actor: ObservedActor, snapshot: Snapshot<unknown>): void {
    const say = this.#sayOf(actor);
    this.#sendContext(actor, snapshot);
    say({ type: 'end', actor: idOf(actor), ...endOf(snapshot) });
    if (actor.parent !== null) return;
    // The children end with the root.
    queueMicrotask(() => {
      say({ type: 'closed' });
      this.#closed.add(actor);
    });
  }

  write(observation: Observation): void {
    const { type, actor } = observation;
    if (this.#closed.has(rootOf(actor))) return;
    if (type === 'started') this.#sendStart(observation);
    else if (type === 'transition') this.#sendTransition(observation);
    else if (type === 'settled') {
      this.#sendContext(actor, observation.snapshot);
      this.#sendTimers(actor);
    } else if (type === 'ended') this.#sendEnd(actor, observation.snapshot);
    else if (type === 'ignored') {
      const { event, candidates } = observation;
      this.#sayOf(actor)({ type, actor: idOf(actor), event: event.type, candidates: candidates.map(candidateJson) });
    } else {
      const { event, sender } = observation;
      this.#sayOf(actor)({ type, actor: idOf(actor), event: eventJson(event), sender: sender && idOf(sender) });
    }
  }
}

/** The last time that a `Date` can represent. */
const LAST_MS = 8.64e15;

const rootOf = (actor: ObservedActor): ObservedActor => (actor.parent === null ? actor : rootOf(actor.parent));

const idOf = ({ ref }: ObservedActor): string => ref.sessionId;

/** An actor without an id of its own gets the name of its machine. */
const nameOf = ({ ref, machine }: ObservedActor): string =>
  ref.id === ref.sessionId && machine !== null ? machine.id : ref.id;

const idsOf = (nodes: readonly AnyStateNode[] | undefined): string[] => (nodes ?? []).map(({ id }) => id);

export const leavesOf = (nodes: readonly AnyStateNode[]): string[] => {
  const parents = new Set(nodes.map(({ parent }) => parent));
  return idsOf(nodes.filter((node) => !parents.has(node)));
};

const candidateJson = ({ transition: { guard, target }, result }: ObservedCandidate) => ({
  guard: guard === undefined ? null : guardLabel(guard),
  target: idsOf(target),
  result,
});

const eventJson = (event: { readonly type: string }) => ({
  ...(plainJson(event) as object),
  type: event.type,
});

export function endOf(snapshot: Snapshot<unknown>) {
  const { status } = snapshot;
  if (status === 'error') return { status, error: plainJson(snapshot.error) ?? null };
  if (status === 'done') return { status, output: plainJson(snapshot.output) };
  return { status: 'stopped' as const };
}

interface InvokedActor extends Pick<ObservedActor, 'ref'> {
  readonly parent: Pick<ObservedActor, 'machine'> | null;
}

/** Returns the name in the parent's chart of the invocation that started the actor; null if an action has spawned it. */
export function invokedSrc({ ref, parent }: InvokedActor): string | null {
  const { src } = ref as { readonly src?: unknown };
  for (const node of parent?.machine ? nodesOf(parent.machine) : []) {
    const at = node.invoke.findIndex((invoke) => invoke.id === ref.id && invoke.src === src);
    if (at >= 0) return invokeLabels(node)[at] ?? null;
  }
  return null;
}
