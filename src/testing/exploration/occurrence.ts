import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { activeNodes } from '../../internal/xstate-internals.ts';
import { nodesOf } from '../structure/nodes.ts';
import type { Outcome } from './outcome.ts';

/** Something that can happen to a machine where it stands. */
export interface Occurrence {
  /** `sent` is from outside; all others come of what the machine has begun. */
  readonly kind: Outcome['kind'] | 'delay' | 'sent';
  /** For who reads the path: `action: confident`, `after phaseDeadline`, `run.cancelled`. */
  readonly name: string;
  readonly event: EventObject;
  /** The state that began what it comes of; null for what is sent. */
  readonly state: string | null;
  /** The id of the actor that it comes of; null for a delay and for what is sent. */
  readonly actor: string | null;
}

/** An invoked actor: the state that invokes it, its id in the machine, and what it is called by. */
export interface InvokedActor {
  readonly state: string;
  readonly id: string;
  readonly src: string;
}

export type OutcomesOf = readonly Outcome[] | ((input: unknown, snapshot: AnyMachineSnapshot) => readonly Outcome[]);

/** Outcomes by the name of the actor, or by the id of one invocation where that differs. */
export type Outcomes = Readonly<Record<string, OutcomesOf>>;

export type SentEvents = readonly EventObject[] | ((snapshot: AnyMachineSnapshot) => readonly EventObject[]);

/** What can happen to a machine, by where it stands, as long as none of its actors has ended. Throws `invalid_option` for outcomes that are of no actor, or are missing for one. */
export function occurrencesOf(machine: AnyStateMachine, outcomes: Outcomes, events: SentEvents) {
  requireKnown(machine, outcomes);
  const always = typeof events === 'function' ? null : events.map(ofEvent);
  return (snapshot: AnyMachineSnapshot): readonly Occurrence[] => {
    if (snapshot.status !== 'active') return [];
    return [
      ...activeActors(snapshot).flatMap((actor) => ofActor(actor, snapshot)),
      ...activeNodes(snapshot).flatMap(ofDelays),
      ...(always ?? (typeof events === 'function' ? events(snapshot).map(ofEvent) : [])),
    ];
  };

  function ofActor(actor: InvokedActor, snapshot: AnyMachineSnapshot): readonly Occurrence[] {
    const known = outcomes[actor.id] ?? outcomes[actor.src] ?? [];
    const input = snapshot.children[actor.id]?.options?.input;
    return (typeof known === 'function' ? known(input, snapshot) : known).map((outcome) => ({
      kind: outcome.kind,
      name: `${actor.src}: ${outcome.name}`,
      event: eventOf(outcome, actor.id),
      ...{ state: actor.state, actor: actor.id },
    }));
  }
}

/** All actors that a machine invokes. */
export function actorsOf(machine: AnyStateMachine): readonly InvokedActor[] {
  return nodesOf(machine).flatMap((node) => node.invoke.map((invoked) => actorOf(node, invoked)));
}

/** The actors that run where a machine stands. */
export function activeActors(snapshot: AnyMachineSnapshot): readonly InvokedActor[] {
  return activeNodes(snapshot).flatMap((node) => node.invoke.map((invoked) => actorOf(node, invoked)));
}

function actorOf(node: AnyStateNode, { id, src }: AnyStateNode['invoke'][number]): InvokedActor {
  return { state: node.id, id, src: typeof src === 'string' ? src : id };
}

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
    ...{ state: node.id, actor: null },
  }));

const ofEvent = (event: EventObject): Occurrence => ({
  kind: 'sent',
  name: nameOf(event),
  event,
  state: null,
  actor: null,
});

/** An event with what it says, where that is short. */
function nameOf({ type, ...said }: EventObject): string {
  const text = Object.keys(said).length === 0 ? '' : JSON.stringify(said);
  return text.length > 60 ? `${type} ${text.slice(0, 57)}…` : `${type} ${text}`.trim();
}

function requireKnown(machine: AnyStateMachine, outcomes: Outcomes): void {
  const actors = actorsOf(machine);
  const names = new Set(actors.flatMap(({ id, src }) => [id, src]));
  const known = [...new Set(actors.map(({ src }) => src))];
  const stranger = Object.keys(outcomes).find((name) => !names.has(name));
  if (stranger !== undefined)
    throw new PostChainError(
      'invalid_option',
      `outcomes: got some for "${stranger}", which ${machine.id} does not invoke; wanted ${known.length === 0 ? 'none: it invokes nothing' : `its actors: ${known.join(', ')}`}.`,
    );
  const missing = actors.find(({ id, src }) => outcomes[id] === undefined && outcomes[src] === undefined);
  if (missing !== undefined)
    throw new PostChainError(
      'invalid_option',
      `outcomes: got none for the actor "${missing.src}", which ${missing.state} invokes; wanted what may come of it: outcomes: { '${missing.src}': [done(output), fails(error)] }, or [] for one that never ends.`,
    );
}
