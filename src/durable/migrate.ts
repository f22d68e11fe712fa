import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { activeNodes } from '../internal/xstate-internals.ts';
import type { DurableActorSystem } from './actor-system.ts';
import type { Codec, Json } from './codec.ts';
import { childPath, type Keyframe, type MigratedEvent } from './entries.ts';
import { recordedMachine } from './machine-versions.ts';

/**
 * How actors of an earlier version of a machine continue on the current one. The idea of moving running work to a new definition by a map of
 * its states comes from process engines such as Camunda.
 */
export interface Migration {
  /**
   * Where an actor continues: the path of a state in the earlier version (keys, joined by dots) and its path in the current one. A state
   * takes the states inside it along. Or a function of the path of each innermost active state. By default, the state with the same path.
   */
  readonly state?: Readonly<Record<string, string>> | ((path: string, context: never) => string);
  /** Returns the context in the current version; by default, the same. */
  readonly context?: (context: never) => object;
  /** The types in the current version of delayed events that wait, by their types in the earlier one; null for those to drop. By default, the same. */
  readonly events?: Readonly<Record<string, string | null>>;
}

/** The two versions of the machine, and how an actor gets from one to the other. */
export interface MigrationParts {
  readonly from: AnyStateMachine;
  readonly to: AnyStateMachine;
  readonly rule: Migration;
  readonly codec: Codec;
}

/** Returns the entry with which an actor that only waits continues on another version. Throws an error with the reason if it cannot. */
export function migratedEvent(
  system: Pick<DurableActorSystem, 'keyframe' | 'approvals'>,
  { from, to, rule, codec }: MigrationParts,
): MigratedEvent {
  const state = system.keyframe(true);
  if (state === null)
    throw new Error(
      'its context cannot be moved: expected no actors, and no object twice, in the context and delayed events',
    );
  const given = codec.decode(state.snapshot.context);
  const leaves = state.snapshot.nodes.map((id) => from.getStateNodeById(id)).filter(isLeaf);
  const places = new Map(leaves.map((leaf) => [leaf, placeOf(leaf, to, rule, given)]));
  const context = rule.context === undefined ? given : rule.context(given as never);
  if (typeof context !== 'object' || context === null)
    throw new Error(`context: expected an object; received ${JSON.stringify(context) ?? String(context)}`);
  const resolved = to.resolveState({ value: stateValue([...places.values()]), context } as never) as AnyMachineSnapshot;
  if (resolved.status !== 'active') throw new Error(`version ${versionOf(to)} ends in ${listOf([...places.values()])}`);
  const nodes = activeNodes(resolved).toSorted((one, other) => one.order - other.order);
  const old = state.snapshot.nodes.map((id) => from.getStateNodeById(id));
  /** The active states of the new version by those of the old one. */
  const counterparts = new Map(
    old.flatMap((node) => {
      const place = places.get(node) ?? nodeAt(to, mapped(node.path.join('.'), rule) ?? '');
      return place !== undefined && nodes.includes(place) ? [[node, place]] : [];
    }),
  );
  return {
    type: 'migrated',
    machine: recordedMachine(to),
    state: {
      ...state,
      snapshot: {
        value: resolved.value as Json,
        nodes: nodes.map(({ id }) => id),
        context: codec.encode(context, 'context', 'exact'),
        historyValue: historyIn(state, to),
      },
      timers: state.timers.flatMap((timer) => keptTimer(timer, counterparts, rule)),
    },
    ended: [...counterparts].flatMap(([one, other]) => [
      ...endedInvokes(one, other, new Set(system.approvals.keys())),
      ...[...one.transitions.keys()].filter(isDelay).map((type) => delayIn(other, type, one)),
    ]),
  };
}

const isLeaf = ({ states }: AnyStateNode): boolean => Object.keys(states).length === 0;

const versionOf = ({ version = '(none)' }: AnyStateMachine & { readonly version?: string }): string => `"${version}"`;

const listOf = (nodes: readonly AnyStateNode[]): string => nodes.map(({ path }) => `"${path.join('.')}"`).join(', ');

/** Returns the path in the current version, according to the longest part of it that the rule names. */
function mapped(path: string, { state = {} }: Migration): string | undefined {
  if (typeof state === 'function') return path;
  const keys = path.split('.');
  for (let length = keys.length; length > 0; length -= 1) {
    const part = keys.slice(0, length).join('.');
    if (Object.hasOwn(state, part)) return [state[part], ...keys.slice(length)].join('.');
  }
  return path;
}

function placeOf(leaf: AnyStateNode, to: AnyStateMachine, rule: Migration, context: unknown): AnyStateNode {
  const path = leaf.path.join('.');
  const place = typeof rule.state === 'function' ? rule.state(path, context as never) : mapped(path, rule);
  const node = typeof place === 'string' ? nodeAt(to, place) : undefined;
  if (node !== undefined && node.type !== 'history') return node;
  const problem = node === undefined ? 'does not have' : 'has as a history state';
  throw new Error(`state "${path}" leads to "${place}", which version ${versionOf(to)} ${problem}`);
}

const nodeAt = ({ root }: AnyStateMachine, path: string): AnyStateNode | undefined =>
  path === '' ? root : path.split('.').reduce<AnyStateNode | undefined>((node, key) => node?.states[key], root);

/** Returns the value in which all these states are active. */
function stateValue(nodes: readonly AnyStateNode[]): StateValue {
  const value: Record<string, object> = {};
  for (const node of nodes) {
    let within = value;
    let parent = node.machine.root as AnyStateNode;
    for (const key of node.path) {
      const other = Object.keys(within).find((name) => name !== key);
      if (parent.type !== 'parallel' && other !== undefined)
        throw new Error(`the states ${listOf(nodes)} cannot be active together`);
      within[key] ??= {};
      within = within[key] as Record<string, object>;
      parent = parent.states[key] as AnyStateNode;
    }
  }
  return value as StateValue;
}

/** What history states return to, as far as the current version has these states. */
function historyIn({ snapshot }: Keyframe, to: AnyStateMachine): Json {
  const ids = new Set(idsIn(to.root));
  const entries = Object.entries(snapshot.historyValue as Readonly<Record<string, readonly { readonly id: string }[]>>);
  return Object.fromEntries(
    entries.filter(([id, nodes]) => ids.has(id) && nodes.every((node) => ids.has(node.id))),
  ) as Json;
}

const idsIn = (node: AnyStateNode): readonly string[] => [node.id, ...Object.values(node.states).flatMap(idsIn)];

type KeptTimer = Keyframe['timers'][number];

/** A delay of a state is kept if its counterpart has the same one: with the same name, or the same number. */
function keptTimer(
  timer: KeptTimer,
  counterparts: ReadonlyMap<AnyStateNode, AnyStateNode>,
  { events = {} }: Migration,
): readonly KeptTimer[] {
  const event = timer.event as { readonly type: string };
  if (isDelay(event.type)) {
    const pair = [...counterparts].find(([{ transitions }]) => transitions.has(event.type));
    if (pair === undefined) return [];
    const type = delayIn(pair[1], event.type, pair[0]);
    return pair[1].transitions.has(type) ? [{ ...timer, event: { ...event, type }, id: type }] : [];
  }
  const type = Object.hasOwn(events, event.type) ? events[event.type] : event.type;
  return type == null ? [] : [{ ...timer, event: { ...event, type } }];
}

const isDelay = (type: string): boolean => type.startsWith('xstate.after.');

/** Returns the event of a state for the same delay as that of another one. */
const delayIn = (node: AnyStateNode, type: string, other: AnyStateNode): string =>
  `${type.slice(0, -other.id.length)}${node.id}`;

/** The actors that both states invoke have ended already, but for open questions. */
function endedInvokes(one: AnyStateNode, other: AnyStateNode, open: ReadonlySet<string>): readonly string[] {
  const own = new Map(one.invoke.map(({ id }, index) => [id === `${index}.${one.id}` ? index : id, id]));
  return other.invoke.flatMap(({ id }, index) => {
    const before = own.get(id === `${index}.${other.id}` ? index : id);
    return before === undefined || open.has(childPath('', before)) ? [] : [id];
  });
}
