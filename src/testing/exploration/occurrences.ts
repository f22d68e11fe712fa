import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { activeNodes, actorNames } from '../../internal/xstate-internals.ts';
import { nodesOf } from '../structure/chart-structure.ts';

/** What an actor can do: finish, fail, or send its parent an event and keep running. */
export type Outcome =
  | { readonly kind: 'done'; readonly name: string; readonly output: unknown }
  | { readonly kind: 'error'; readonly name: string; readonly error: unknown }
  | { readonly kind: 'emitted'; readonly name: string; readonly event: EventObject };

/** Returns the outcome of an actor that finishes with an output. The name appears in paths. */
export const done = (output?: unknown, name = 'done'): Outcome => ({ kind: 'done', name, output });

/** Returns the outcome of an actor that fails. */
export const fails = (error: unknown = new Error('Scripted failure'), name = 'error'): Outcome => ({
  kind: 'error',
  name,
  error,
});

/** Returns the outcome of an actor that sends its parent an event and keeps running: a callback, or a child that uses `sendParent`. */
export const sends = <Event extends EventObject>(event: Event, name: string = event.type): Outcome => ({
  kind: 'emitted',
  name,
  event,
});

export type ActorOutcomes = readonly Outcome[] | ((input: unknown, snapshot: AnyMachineSnapshot) => readonly Outcome[]);

/** Outcomes by actor name (`src`), or by invocation id if it differs. */
export type Outcomes = Readonly<Record<string, ActorOutcomes>>;

/** An event that can occur in a state of a machine. */
export interface Occurrence {
  /** `sent` events come from outside; all others come from actors and delays of the machine. */
  readonly kind: Outcome['kind'] | 'delay' | 'sent';
  /** Label in paths, unique in its state: `action: confident`, `after phaseDeadline`, `run.cancelled`. */
  readonly name: string;
  readonly event: EventObject;
  /** The state that invoked the actor or set the delay; null for a sent event. */
  readonly state: string | null;
  /** The actor's id; null for a delay and for a sent event. */
  readonly actor: string | null;
}

export interface RunningActor {
  /** Id of the invoking state, or of the machine. */
  readonly state: string;
  readonly id: string;
  readonly src: string;
}

/**
 * Returns a function from a snapshot to the events that can occur in it while none of its actors has ended. Throws `invalid_option` if
 * `outcomes` names an unknown actor or misses one.
 */
export function occurrencesOf(
  machine: AnyStateMachine,
  outcomes: Outcomes,
  events: readonly EventObject[] | ((snapshot: AnyMachineSnapshot) => readonly EventObject[]),
) {
  requireAllActors(machine, outcomes);
  const fixed = typeof events === 'function' ? null : events.map(ofEvent);
  return (snapshot: AnyMachineSnapshot): readonly Occurrence[] => {
    if (snapshot.status !== 'active') return [];
    return [
      ...withUniqueNames(activeActors(snapshot).flatMap((actor) => ofActor(actor, snapshot))),
      ...withUniqueNames(activeNodes(snapshot).flatMap(ofDelays)),
      ...(fixed ?? (typeof events === 'function' ? events(snapshot).map(ofEvent) : [])),
    ];
  };

  /** Adds the actor or the state to names that several occurrences share, for example in parallel regions. */
  function withUniqueNames(occurrences: readonly Occurrence[]): readonly Occurrence[] {
    const counts = new Map<string, number>();
    for (const { name } of occurrences) counts.set(name, (counts.get(name) ?? 0) + 1);
    return occurrences.map((occurrence) => {
      const { name, actor, state } = occurrence;
      const place = actor ?? state?.slice(machine.id.length + 1);
      return counts.get(name) === 1 || place === undefined ? occurrence : { ...occurrence, name: `${name} (${place})` };
    });
  }

  function ofActor({ id, src, state }: RunningActor, snapshot: AnyMachineSnapshot): readonly Occurrence[] {
    const given = outcomes[id] ?? outcomes[src];
    if (given === undefined) throw missingOutcomes(src, `${machine.id} spawns`);
    const input = snapshot.children[id]?.options?.input;
    return (typeof given === 'function' ? given(input, snapshot) : given).map((outcome) => ({
      kind: outcome.kind,
      name: `${src}: ${outcome.name}`,
      event: eventOf(outcome, id),
      state,
      actor: id,
    }));
  }
}

export function actorsOf(machine: AnyStateMachine): readonly RunningActor[] {
  return nodesOf(machine).flatMap(invokedBy);
}

/** Returns the actors that the active states invoke, and those that actions have spawned. */
export function activeActors(snapshot: AnyMachineSnapshot): readonly RunningActor[] {
  return [...activeNodes(snapshot).flatMap(invokedBy), ...spawnedActors(snapshot)];
}

export function spawnedActors({ children, machine }: AnyMachineSnapshot): readonly RunningActor[] {
  const ids = Object.keys(children);
  if (ids.length === 0) return [];
  const invoked = invokedIds(machine);
  return ids.flatMap((id) => {
    const src = children[id]?.src;
    return invoked.has(id) || src === undefined
      ? []
      : [{ state: machine.root.id, id, src: typeof src === 'string' ? src : id }];
  });
}

const idsInvokedBy = new WeakMap<AnyStateMachine, ReadonlySet<string>>();

function invokedIds(machine: AnyStateMachine): ReadonlySet<string> {
  const ids = idsInvokedBy.get(machine) ?? new Set(actorsOf(machine).map(({ id }) => id));
  idsInvokedBy.set(machine, ids);
  return ids;
}

const invokedBy = (node: AnyStateNode): readonly RunningActor[] =>
  node.invoke.map(({ id, src }) => ({ state: node.id, id, src: typeof src === 'string' ? src : id }));

function eventOf(outcome: Outcome, id: string): EventObject {
  switch (outcome.kind) {
    case 'done':
      return { type: `xstate.done.actor.${id}`, output: outcome.output, actorId: id } as EventObject;
    case 'error':
      return { type: `xstate.error.actor.${id}`, error: outcome.error, actorId: id } as EventObject;
    case 'emitted':
      return outcome.event;
    default:
      return outcome satisfies never;
  }
}

const ofDelays = (node: AnyStateNode): readonly Occurrence[] =>
  [...new Map(node.after.map(({ eventType, delay }) => [eventType, delay]))].map(([type, delay]) => ({
    kind: 'delay',
    name: `after ${typeof delay === 'number' ? `${delay} ms` : String(delay)}`,
    event: { type },
    state: node.id,
    actor: null,
  }));

const ofEvent = (event: EventObject): Occurrence => ({
  kind: 'sent',
  name: labelOf(event),
  event,
  state: null,
  actor: null,
});

const MAX_PAYLOAD_CHARS = 60;

function labelOf({ type, ...payload }: EventObject): string {
  const text = Object.keys(payload).length === 0 ? '' : JSON.stringify(payload);
  return text.length > MAX_PAYLOAD_CHARS
    ? `${type} ${text.slice(0, MAX_PAYLOAD_CHARS - 3)}…`
    : `${type} ${text}`.trim();
}

function requireAllActors(machine: AnyStateMachine, outcomes: Outcomes): void {
  const actors = actorsOf(machine);
  const known = new Set([...actors.flatMap(({ id, src }) => [src, id]), ...actorNames(machine)]);
  const unknown = Object.keys(outcomes).find((name) => !known.has(name));
  if (unknown !== undefined) {
    const names = [...new Set([...actors.map(({ src }) => src), ...actorNames(machine)])].join(', ');
    throw new PostChainError(
      'invalid_option',
      `"outcomes.${unknown}" does not match an actor of ${machine.id}, which starts ${names || 'no actors'}`,
    );
  }
  const missing = actors.find(({ id, src }) => outcomes[id] === undefined && outcomes[src] === undefined);
  if (missing !== undefined) throw missingOutcomes(missing.src, `${missing.state} invokes`);
}

function missingOutcomes(src: string, who: string): PostChainError {
  return new PostChainError(
    'invalid_option',
    `"outcomes.${src}" is missing (${who} this actor); pass for example { '${src}': [done(output), fails(error)] }, or [] if the actor never ends`,
  );
}
