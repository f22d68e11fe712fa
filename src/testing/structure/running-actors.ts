import type { AnyActorLogic, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, AnyStateNode } from 'xstate';
import { invokeLabels } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { activeNodes } from '../../xstate/ports.ts';
import { isMachine } from '../../xstate/states.ts';

/** Logic to run in place of that of actors, by their names. */
export type StandIns = Readonly<Record<string, AnyActorLogic>>;

/** An actor that a machine invokes or has spawned. */
export interface ActiveActor {
  /** Id of the invoking state, or of the machine. */
  readonly state: string;
  readonly id: string;
  /** The name of its logic; for inline logic its id, the id of its machine, or the path of the invoking state. */
  readonly name: string;
  /** Number among the running spawned actors of this name. */
  readonly nth: number;
}

/** Returns all actors that the states of a machine invoke. */
export const actorsOf = (machine: AnyStateMachine): readonly ActiveActor[] => nodesOf(machine).flatMap(invokedBy);

/** Returns the actors that the active states invoke, and those that actions have spawned, without `ended`. */
export function activeActors(snapshot: AnyMachineSnapshot, ended: readonly string[] = []): readonly ActiveActor[] {
  const invoked = activeNodes(snapshot).flatMap(invokedBy);
  return [...invoked.filter(({ id }) => !ended.includes(id)), ...spawnedActors(snapshot, ended)];
}

const invokedByNode = new WeakMap<AnyStateNode, readonly ActiveActor[]>();

export function invokedBy(node: AnyStateNode): readonly ActiveActor[] {
  const known = invokedByNode.get(node);
  if (known !== undefined) return known;
  const labels = invokeLabels(node);
  const actors = node.invoke.map(({ id }, nth) => {
    const label = labels[nth] ?? id;
    const name = label === 'inline' ? pathOf(node, nth) : label;
    return { state: node.id, id, name, nth: 0 };
  });
  invokedByNode.set(node, actors);
  return actors;
}

const pathOf = ({ path, machine }: AnyStateNode, nth: number): string =>
  `${path.join('.') || machine.id}${nth === 0 ? '' : `[${nth}]`}`;

/** XState keeps spawned actors that have ended, so these do not count. */
export function spawnedActors(
  { children, machine }: AnyMachineSnapshot,
  ended: readonly string[],
): readonly ActiveActor[] {
  const refs = refsIn(children).filter(({ id }) => !ended.includes(id));
  if (refs.length === 0) return [];
  const invoked = invokedIds(machine);
  const counts = new Map<string, number>();
  return refs.flatMap((ref) => {
    if (invoked.has(ref.id)) return [];
    const name = nameOf(ref);
    const nth = counts.get(name) ?? 0;
    counts.set(name, nth + 1);
    return [{ state: machine.root.id, id: ref.id, name, nth }];
  });
}

/** Returns the name of a child; that of invoked inline logic is found by its id. */
export function nameOfActor(machine: AnyStateMachine, ref: AnyActorRef): string {
  const { src, id } = ref;
  const isInline = typeof src !== 'string' || src.startsWith('xstate.invoke.');
  return (isInline && actorsOf(machine).find((actor) => actor.id === id)?.name) || nameOf(ref);
}

function nameOf({ src, id }: AnyActorRef): string {
  if (typeof src === 'string') return src;
  if (isMachine(src) && src.config.id !== undefined) return src.id;
  return hasGeneratedId({ id }) ? 'inline' : id;
}

/** Whether XState has numbered the actor, because the machine gives it no id. */
export const hasGeneratedId = ({ id }: { readonly id: string }): boolean => /^x:\d+$/u.test(id);

/** Returns a child by its id. XState keeps a child spawned without an id under another key. */
export const childOf = ({ children }: AnyMachineSnapshot, id: string): AnyActorRef | undefined =>
  children[id] ?? refsIn(children).find((ref) => ref.id === id);

/** XState keeps undefined for an actor without logic. */
export const refsIn = (children: AnyMachineSnapshot['children']): readonly AnyActorRef[] =>
  Object.values(children as Record<string, AnyActorRef | undefined>).filter((ref) => ref !== undefined);

export const inputOf = (ref: AnyActorRef | undefined): unknown =>
  (ref as { readonly options?: { readonly input?: unknown } } | undefined)?.options?.input;

const idsInvokedBy = new WeakMap<AnyStateMachine, ReadonlySet<string>>();

function invokedIds(machine: AnyStateMachine): ReadonlySet<string> {
  const ids = idsInvokedBy.get(machine) ?? new Set(actorsOf(machine).map(({ id }) => id));
  idsInvokedBy.set(machine, ids);
  return ids;
}
