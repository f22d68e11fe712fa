import type {
  AnyActorLogic,
  AnyActorRef,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  EventObject,
} from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { declaredOutcomes } from '../../internal/declared-outcomes.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { actorNames } from '../../xstate/actors.ts';
import { activeNodes, described, requireHostable } from '../../xstate/ports.ts';
import { descriptorMatches, invokedLogics, isMachine } from '../../xstate/states.ts';
import {
  type ActiveActor,
  activeActors,
  actorsOf,
  childOf,
  hasGeneratedId,
  inputOf,
  invokedBy,
  nameOfActor,
  spawnedActors,
} from '../structure/running-actors.ts';
import { ownEvents } from './own-events.ts';
import { type Delayed, timerKey } from './timers.ts';

/** What an actor can do: finish, fail, send its parent an event, or change its snapshot, and keep running. */
export type ActorOutcome =
  | { readonly kind: 'done'; readonly name: string; readonly output: unknown }
  | { readonly kind: 'error'; readonly name: string; readonly error: unknown }
  | { readonly kind: 'emitted'; readonly name: string; readonly event: EventObject }
  | { readonly kind: 'snapshot'; readonly name: string; readonly snapshot: unknown };

/** Returns the outcome of an actor that finishes with an output. The name appears in paths. */
export const done = (output?: unknown, name = 'done'): ActorOutcome => ({ kind: 'done', name, output });

/** Returns the outcome of an actor that fails. */
export const fails = (error: unknown = new Error('Scripted failure'), name = 'error'): ActorOutcome => ({
  kind: 'error',
  name,
  error,
});

/** Returns the outcome of an actor that sends its parent an event and keeps running: a callback, or a child that uses `sendParent`. */
export const sends = <Event extends EventObject>(event: Event, name: string = event.type): ActorOutcome => ({
  kind: 'emitted',
  name,
  event,
});

/** Returns the outcome of an actor, invoked with `onSnapshot`, that has a new snapshot with these fields. */
export const updates = (snapshot: object, name = 'snapshot'): ActorOutcome => ({
  kind: 'snapshot',
  name,
  snapshot: { status: 'active', output: undefined, error: undefined, ...snapshot },
});

export type ActorOutcomes =
  | readonly ActorOutcome[]
  | ((input: unknown, snapshot: AnyMachineSnapshot) => readonly ActorOutcome[]);

/** Outcomes by actor name (`src`) or actor id. The key `*` covers all other actors. */
export type Outcomes = Readonly<Record<string, ActorOutcomes>>;

/** An event that can occur in a state of a machine. */
export interface Occurrence {
  /** `sent` events come from outside; all others come from actors and delays of the machine. */
  readonly kind: Exclude<ActorOutcome['kind'], 'snapshot'> | 'delay' | 'sent';
  /** Label in paths, unique in its state: `action: confident`, `after phaseDeadline`, `run.cancelled`. */
  readonly name: string;
  readonly event: EventObject;
  /** The state that invoked the actor or set the delay; null for an event that is sent or was delayed by an action. */
  readonly state: string | null;
  /** The actor; null for a delay and for a sent event. */
  readonly actor: ActiveActor | null;
  /** The exploration of the child machine that found the outcome, by its number in `children`. */
  readonly child?: number | undefined;
  /** The id by which a delay is canceled. */
  readonly timerId?: string | undefined;
}

/** A snapshot, and what else decides which events can occur. */
export interface Place<Snapshot = AnyMachineSnapshot> {
  readonly snapshot: Snapshot;
  /** Ids of actors that have ended or were stopped although their state is still active. */
  readonly ended: readonly string[];
  /** The delays that have not elapsed. */
  readonly timers: readonly Delayed[];
}

export type EventsOption =
  | readonly EventObject[]
  | ((snapshot: AnyMachineSnapshot) => readonly EventObject[])
  | undefined;

export interface Occurrences {
  /** Returns the events that can occur. */
  in(place: Place): readonly Occurrence[];
  /** Whether what the actor can do depends on its input. */
  readsInput(actor: ActiveActor, ref: AnyActorRef | undefined): boolean;
  /** Throws if a child machine handles an event that it did not receive in its own exploration. */
  requireIndependent(ref: AnyActorRef, event: EventObject, where: () => string): void;
  /** Throws if two actors with different logic have one name, and no outcomes are given for it. */
  requireOneLogic(place: Place): void;
  /** Throws `invalid_option` if the machine has read more than the type of an event that was sent without `events`. */
  requireNoPayload(where: () => string): void;
  /** Throws `invalid_option` if `outcomes` names an actor that was never started. */
  requireAllKnown(): void;
}

/** The outcomes of an actor for which none are given; `child` is the number of the exploration that found them. */
export type FoundOutcomes =
  | { readonly outcomes: ActorOutcomes; readonly child?: number }
  /** Why there are none; empty if the actor is not a machine. */
  | { readonly problem: string | Error };

/** Finds the outcomes of the actors of a machine for which none are given. */
export interface OutcomeFinder {
  /** The names of the actors above, each followed by a dot, and the outcomes of each actor that has no others. */
  readonly level: { readonly path: string; readonly assumed?: readonly ActorOutcome[] | undefined };
  find(name: string, ref: AnyActorRef): FoundOutcomes;
  requireIndependent(name: string, ref: AnyActorRef, event: EventObject, where: () => string): void;
  requireOneLogic(name: string, ref: AnyActorRef): void;
}

/** Returns the events that can occur in a machine. Throws `invalid_option` if `outcomes` misses an actor. */
export function occurrencesOf(
  original: AnyStateMachine,
  given: Outcomes,
  events: EventsOption,
  finder: OutcomeFinder,
): Occurrences {
  requireHostable(original);
  const machine = described(original);
  const outcomes = { ...declaredBy(machine), ...given };
  const { path, assumed } = finder.level;
  if (assumed === undefined) requireAllActors(machine, outcomes, path);
  let read: readonly [type: string, member: string] | null = null;
  const bare = events === undefined ? bareEvents(machine, outcomes, (...what) => (read ??= what)) : [];
  // Also events that a mutant no longer handles, because its transition was dropped.
  const declared = nodesOf(machine).flatMap(({ config }) => Object.keys(config.on ?? {}));
  const handled = [...new Set([...handledTypes(machine), ...declared])];
  const ofEvent = (event: EventObject): Occurrence => sentOccurrence(event, machine.id, handled);
  const fixed = typeof events === 'function' ? null : (events ?? bare).map(ofEvent);
  const used = new Set<string>();
  const outcomesOf = (actor: ActiveActor, ref: AnyActorRef | undefined) => {
    const key = outcomesKey(actor, outcomes);
    if (key === undefined) return ref === undefined ? { problem: '' } : finder.find(actor.name, ref);
    used.add(key);
    return { outcomes: outcomes[key] as ActorOutcomes, child: undefined };
  };
  return {
    in(place) {
      const { snapshot, ended, timers } = place;
      if (snapshot.status !== 'active') return [];
      const ofActors = activeActors(snapshot, ended).flatMap((actor) => ofActor(actor, snapshot));
      return [
        ...withUniqueNames(ofActors, machine.id),
        ...withUniqueNames(ofTimers(timers, snapshot), machine.id),
        ...(fixed ?? (typeof events === 'function' ? events(snapshot).map(ofEvent) : [])),
      ];
    },
    readsInput(actor, ref) {
      const found = outcomesOf(actor, ref);
      if ('problem' in found) throw missingOf(machine, path, actor, found.problem);
      return typeof found.outcomes === 'function' || found.child !== undefined;
    },
    requireIndependent(ref, event, where) {
      const name = nameOfActor(machine, ref);
      if (outcomesKey({ id: ref.id, name }, outcomes) === undefined) finder.requireIndependent(name, ref, event, where);
    },
    requireOneLogic({ snapshot, ended }) {
      for (const { id, name } of spawnedActors(snapshot, ended)) {
        const ref = childOf(snapshot, id);
        if (ref !== undefined && outcomesKey({ id, name }, outcomes) === undefined) finder.requireOneLogic(name, ref);
      }
    },
    requireNoPayload(where) {
      if (read === null) return;
      const [type, member] = read;
      const others = bare.filter((event) => event.type !== type).map((event) => `{ type: '${event.type}' }`);
      throw new PostChainError(
        'invalid_option',
        `"events" is missing, and "${type}" needs a payload: its "${member}" is read ${where()}; pass for example events: [${[`{ type: '${type}', ${member}: … }`, ...others].join(', ')}]`,
      );
    },
    requireAllKnown() {
      const unknown = strayOutcomes(machine, given).find((name) => !used.has(name));
      if (unknown === undefined) return;
      const names = [...new Set([...actorsOf(machine).map(({ name }) => name), ...actorNames(machine)])].join(', ');
      throw new PostChainError(
        'invalid_option',
        `"outcomes.${unknown}" does not match an actor of ${machine.id}, which starts ${names || 'no actors'}`,
      );
    },
  };

  function ofActor(actor: ActiveActor, snapshot: AnyMachineSnapshot): readonly Occurrence[] {
    const ref = childOf(snapshot, actor.id);
    const found = outcomesOf(actor, ref);
    if ('problem' in found) throw missingOf(machine, path, actor, found.problem);
    const { outcomes: all, child } = found;
    return (typeof all === 'function' ? all(inputOf(ref), snapshot) : all).map((outcome) => ({
      kind: outcome.kind === 'snapshot' ? 'emitted' : outcome.kind,
      name: `${actor.name}: ${outcome.name}`,
      event: eventOf(outcome, actor.id),
      state: actor.state,
      actor,
      child,
    }));
  }
}

/** Adds the actor or the state to names that several occurrences share, for example in parallel regions. */
function withUniqueNames(occurrences: readonly Occurrence[], machineId: string): readonly Occurrence[] {
  const counts = new Map<string, number>();
  for (const { name } of occurrences) counts.set(name, (counts.get(name) ?? 0) + 1);
  return occurrences.map((occurrence) => {
    const { name, actor, state } = occurrence;
    const place = actor === null ? state?.slice(machineId.length + 1) : placeOf(actor);
    return counts.get(name) === 1 || place === undefined ? occurrence : { ...occurrence, name: `${name} (${place})` };
  });
}

/** Returns the key of an actor's outcomes: its id, its name, `inline` or `*`; undefined if there are none. */
export const outcomesKey = ({ id, name }: Pick<ActiveActor, 'id' | 'name'>, outcomes: object): string | undefined =>
  [id, name, ...(name === id ? ['inline'] : []), '*'].find((key) => Object.hasOwn(outcomes, key));

/** Returns the name of an outcome from its label in paths. */
export function outcomeName(label: string, actor: ActiveActor): string {
  const place = ` (${placeOf(actor)})`;
  const end = label.endsWith(place) ? -place.length : undefined;
  return label.slice(`${actor.name}: `.length, end);
}

const placeOf = ({ id, nth }: ActiveActor): string => (hasGeneratedId({ id }) ? `#${nth}` : id);

/** Returns the event that a machine receives when its actor has this outcome. */
export function eventOf(outcome: ActorOutcome, id: string): EventObject {
  switch (outcome.kind) {
    case 'done':
      return { type: `xstate.done.actor.${id}`, output: outcome.output, actorId: id } as EventObject;
    case 'error':
      return { type: `xstate.error.actor.${id}`, error: outcome.error, actorId: id } as EventObject;
    case 'emitted':
      return outcome.event;
    case 'snapshot':
      return { type: `xstate.snapshot.${id}`, snapshot: outcome.snapshot } as EventObject;
    default:
      return outcome satisfies never;
  }
}

/** Equal timers are one occurrence: the result is the same whichever elapses. */
function ofTimers(timers: readonly Delayed[], snapshot: AnyMachineSnapshot): readonly Occurrence[] {
  const seen = new Set<string>();
  return timers.flatMap((timer) => {
    const { id, event } = timer;
    const after = afterOf(snapshot, event.type);
    const name = after?.name ?? `${labelOf(event)} (delayed)`;
    const key = timerKey(timer);
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ kind: 'delay', name, event, state: after?.state ?? null, actor: null, timerId: id } as const];
  });
}

function afterOf(snapshot: AnyMachineSnapshot, type: string) {
  if (!type.startsWith('xstate.after.')) return null;
  for (const { id, after } of activeNodes(snapshot)) {
    const found = after.find(({ eventType }) => eventType === type);
    if (found === undefined) continue;
    const { delay } = found;
    return { state: id, name: `after ${typeof delay === 'number' ? `${delay} ms` : String(delay)}` };
  }
  return null;
}

function sentOccurrence(event: EventObject, machineId: string, handled: readonly string[]): Occurrence {
  const { type } = Object(event) as Partial<EventObject>;
  if (typeof type !== 'string')
    throw new PostChainError(
      'invalid_option',
      `"events" must be objects with a "type"; received ${describeValue(event)}`,
    );
  if (!handled.some((descriptor) => descriptor === type || descriptorMatches(descriptor, type)))
    throw new PostChainError(
      'invalid_option',
      `"events" contains "${type}", which no state of ${machineId} handles; expected ${handled.length > 0 ? `one of ${handled.join(', ')}` : 'no events'}`,
    );
  return { kind: 'sent', name: labelOf(event), event, state: null, actor: null };
}

const MAX_PAYLOAD_CHARS = 60;

/** The label of an event in paths: its type and the start of its payload. */
export const labelOf = ({ type, ...payload }: EventObject): string =>
  withPayload(type, Object.keys(payload).length === 0 ? undefined : payload);

export function withPayload(type: string, payload: unknown): string {
  const text = payloadText(payload);
  return text.length > MAX_PAYLOAD_CHARS
    ? `${type} ${firstChars(text, MAX_PAYLOAD_CHARS - 3)}…`
    : `${type} ${text}`.trim();
}

function payloadText(payload: unknown): string {
  try {
    return JSON.stringify(payload) ?? '';
  } catch {
    return '{…}';
  }
}

/** The names of XState's own events, including those of version 4: they are not sent from outside. */
const OF_XSTATE = /^(?:xstate|done\.(?:invoke|state)|error\.(?:platform|execution))\./u;

/** Returns the types of sent events that states handle. `machine.events` leaves out events that a state only forbids. */
export const handledIn = (nodes: readonly AnyStateNode[]): readonly string[] =>
  [...new Set(nodes.flatMap(({ transitions }) => [...transitions.keys()]))].filter((type) => !OF_XSTATE.test(type));

export const handledTypes = (machine: AnyStateMachine): readonly string[] => handledIn(nodesOf(machine));

/**
 * Returns one event without a payload for each type that the machine handles and that neither it nor `outcomes` sends, and for each wildcard
 * one that nothing else matches.
 */
function bareEvents(
  machine: AnyStateMachine,
  outcomes: Outcomes,
  onRead: (type: string, member: string) => void,
): readonly EventObject[] {
  const ofActors = Object.values(outcomes).flatMap((given) =>
    typeof given === 'function' ? [] : given.flatMap((one) => (one.kind === 'emitted' ? [one.event.type] : [])),
  );
  const sent = [...ofActors, ...ownEvents(machine)];
  const types = handledTypes(machine).filter((type) => !sent.includes(type));
  return types.map((descriptor) => {
    const type = descriptor.replace(/\*$/u, descriptor === '*' ? 'any other event' : 'any');
    return new Proxy({ type } as EventObject, {
      get(event, member, receiver) {
        if (typeof member === 'string' && !(member in event) && member !== 'toJSON') onRead(type, member);
        return Reflect.get(event, member, receiver);
      },
    });
  });
}

/** The outcomes that the machine's actors declare themselves, by their names. */
function declaredBy({ implementations }: AnyStateMachine): Outcomes {
  const declared = Object.entries(implementations.actors).map(([name, logic]) => {
    const outcomes = typeof logic === 'string' ? undefined : declaredOutcomes(logic as AnyActorLogic);
    return [name, outcomes] as const;
  });
  return Object.fromEntries(declared.flatMap(([name, outcomes]) => (outcomes === undefined ? [] : [[name, outcomes]])));
}

/** Throws if an actor has no outcomes, declares none, and is not a machine, which may be explored. */
function requireAllActors(machine: AnyStateMachine, outcomes: Outcomes, path: string): void {
  const { actors } = machine.implementations;
  const invoked = nodesOf(machine).flatMap((node) => {
    const logics = invokedLogics(node).map((src) => (typeof src === 'string' ? actors[src] : src));
    const isUnknown = (logic: unknown): boolean => !isMachine(logic) && !declaredOutcomes(Object(logic));
    return invokedBy(node).filter((_, nth) => isUnknown(logics[nth]));
  });
  const missing = invoked.find(({ id, name }) => ![id, name, '*'].some((key) => Object.hasOwn(outcomes, key)));
  if (missing === undefined) return;
  const stray = strayOutcomes(machine, outcomes).find((name) => name !== 'inline');
  const also = stray === undefined ? '' : `; the chart names no actor "${stray}"`;
  throw missingOutcomes(`${path}${missing.name}`, `${missing.state} invokes`, also);
}

/** Returns the names in `outcomes` of which the chart and the implementations name no actor. */
function strayOutcomes(machine: AnyStateMachine, outcomes: Outcomes): readonly string[] {
  const known = ['*', ...actorsOf(machine).flatMap(({ id, name }) => [name, id]), ...actorNames(machine)];
  // The outcomes of the actors of a child machine are named after both.
  return Object.keys(outcomes).filter((name) => !known.some((one) => name === one || name.startsWith(`${one}.`)));
}

function missingOf(machine: AnyStateMachine, path: string, actor: ActiveActor, problem: string | Error): Error {
  if (problem instanceof Error) return problem;
  const isInvoked = actorsOf(machine).some(({ id }) => id === actor.id);
  const who = isInvoked ? `${actor.state} invokes` : `${machine.id} spawns`;
  const also = problem && `; its own exploration does not find them: ${problem}`;
  return missingOutcomes(`${path}${actor.name}`, who, also);
}

function missingOutcomes(name: string, who: string, also = ''): PostChainError {
  return new PostChainError(
    'invalid_option',
    `"outcomes.${name}" is missing (${who} this actor${also}); pass for example { '${name}': [done(output), fails(error)] }, or [] if the actor never ends`,
  );
}
