import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, StateValue } from 'xstate';
import { described, portOf } from '../xstate/ports.ts';
import { candidatesFor } from '../xstate/states.ts';
import { collectIn, DurableActorSystem, type SystemParts } from './actor-system.ts';
import { nodesOf } from './charts/chart-nodes.ts';
import type { Json } from './codec.ts';
import {
  childPath,
  type DurableEvent,
  isRedacted,
  type Keyframe,
  type MigratedEvent,
  type StartEntry,
} from './entries.ts';
import { recordedMachine } from './machine-versions.ts';
import type { ReplayedSystem } from './replay.ts';
import { Timekeeper, type TimekeeperOptions } from './timekeeper.ts';

/**
 * How actors of an earlier version of a machine continue on the current one. The idea of moving running work to a new definition by a map of
 * its states comes from process engines such as Camunda.
 */
export interface Migration {
  /**
   * Maps paths of states in the earlier version (keys, joined by dots) to paths in the current one. The states inside a state move with it.
   * Or a function that returns the new path of each innermost active state. By default, paths stay the same.
   */
  readonly state?: Readonly<Record<string, string>> | ((path: string, context: never) => string);
  /** Returns the context in the current version; by default, it stays the same. */
  readonly context?: (context: never) => object;
  /** Maps types of delayed events to types in the current version, or to null to drop them. By default, types stay the same. */
  readonly events?: Readonly<Record<string, string | null>>;
}

/** An actor that only waits, and how it moves to another version of its machine. */
export interface MovedActor {
  readonly system: Pick<DurableActorSystem, 'keyframe' | 'approvals'>;
  readonly from: AnyStateMachine;
  readonly rule: Migration;
  readonly start: StartEntry;
  /** For the actor in the current version. */
  readonly parts: SystemParts;
  readonly atMs: number;
}

type Versions = Pick<MovedActor, 'from' | 'rule'> & { readonly to: AnyStateMachine };

/** Returns the actor in the current version, and the entries of the step in which it moves. Throws an error with the reason if it cannot. */
export function migrated({ start, parts, atMs, ...moved }: MovedActor) {
  const event = migratedEvent({ ...moved, parts });
  const events: DurableEvent[] = [event];
  const system = new DurableActorSystem(start, parts, collectIn(events));
  system.migrate(event, atMs);
  const { status, error } = system.root.getSnapshot() as { status: string; error?: unknown };
  if (status === 'error') throw error;
  return { system, events };
}

/**
 * Returns the actor in the current version of its machine, or unchanged if something is in progress. Throws an error with the reason if it
 * cannot be migrated.
 */
export function migratedSystem(
  id: string,
  replayed: ReplayedSystem,
  rule: Migration,
  parts: SystemParts,
  options: TimekeeperOptions,
): ReplayedSystem {
  const { system, start, machine: from, entries, unstored } = replayed;
  const time = new Timekeeper(system, entries, options);
  const atMs = time.nowMs;
  // A due delay belongs to the earlier version.
  if (!system.canMigrate || time.nextDueMs <= atMs) return replayed;
  try {
    if (isRedacted(start)) throw new Error('its journal is redacted');
    const next = migrated({ system, from, rule, start, parts, atMs });
    const step = { unstored: [...unstored, ...next.events], changedAtMs: atMs };
    return { ...replayed, ...step, system: next.system, machine: parts.machine };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`actor ${id} cannot be migrated from version "${from.version}": ${reason.replace(/\.$/u, '')}`);
  }
}

function migratedEvent({ system, rule, parts, ...versions }: Omit<MovedActor, 'start' | 'atMs'>): MigratedEvent {
  const { machine, codec } = parts;
  const [from, to] = [described(versions.from), described(machine)];
  requirePaths(rule, from, to);
  const state = system.keyframe(true);
  if (state === null)
    throw new Error(
      'its state cannot be moved: its context contains actors or the same object twice, or a delayed event is for another actor or shares its id',
    );
  const given = codec.decode(state.snapshot.context);
  const old = state.snapshot.nodes.map((id) => from.getStateNodeById(id));
  const targets = new Map(old.filter(isLeaf).map((leaf) => [leaf, targetOf(leaf, to, rule, given)]));
  const context = rule.context === undefined ? given : rule.context(given as never);
  if (typeof context !== 'object' || context === null)
    throw new Error(`context: expected an object; received ${JSON.stringify(context) ?? String(context)}`);
  const moved = machine.resolveState({
    value: stateValue([...targets.values()]),
    context,
  } as never) as AnyMachineSnapshot;
  const nodes = portOf(to)
    .activeNodes(moved)
    .toSorted((one, other) => one.order - other.order);
  requireNotDone(targets, nodes, to);
  requireInputs(state, nodes);
  const matcher = new Matcher(targets, nodes, rule);
  const delays = matcher.match(delaysOf);
  const open = [...system.approvals.keys()];
  const isOpen = (id: string): boolean => open.some((path) => path.replace(/#\d+$/u, '') === childPath('', id));
  return {
    type: 'migrated',
    machine: recordedMachine(machine),
    state: {
      ...state,
      snapshot: {
        ...state.snapshot,
        value: moved.value as Json,
        nodes: nodes.map(({ id }) => id),
        context: codec.encode(context, 'context', 'exact'),
        historyValue: historyIn(state, given, { from, to, rule }),
      },
      timers: state.timers.flatMap((timer) => keptTimer(timer, delays, { from, to, rule })),
    },
    ended: [
      ...[...matcher.match(invokesOf)].flatMap(([before, now]) => (isOpen(before) ? [] : [now])),
      ...delays.values(),
    ],
  };
}

function requireInputs({ snapshot }: Keyframe, nodes: readonly AnyStateNode[]): void {
  const lost = snapshot.nodes.find(
    (id) => Object.hasOwn(Object(snapshot.stateInputs), id) && !nodes.some((node) => node.id === id),
  );
  if (lost !== undefined) throw new Error(`the state "${lost}" has an input and cannot be renamed; keep its id`);
}

const isLeaf = ({ states }: AnyStateNode): boolean => Object.keys(states).length === 0;

const pathOf = ({ path }: AnyStateNode): string => path.join('.');

const versionOf = ({ version = '(none)' }: AnyStateMachine & { readonly version?: string }): string =>
  `version "${version}"`;

const nodeAt = ({ root }: AnyStateMachine, path: unknown): AnyStateNode | undefined =>
  path === ''
    ? root
    : String(path)
        .split('.')
        .reduce<AnyStateNode | undefined>((node, key) => node?.states[key], root);

/** A misspelled path or type would otherwise have no effect. */
function requirePaths({ state, events }: Migration, from: AnyStateMachine, to: AnyStateMachine): void {
  const problems: string[] = [];
  for (const [before, now] of typeof state === 'function' ? [] : Object.entries(state ?? {}))
    for (const [machine, path] of [
      [from, before],
      [to, now],
    ] as const)
      if (nodeAt(machine, path) === undefined)
        problems.push(`state: "${before}": ${versionOf(machine)} has no state "${path}"`);
  for (const [before, type] of Object.entries(events ?? {}))
    if (type !== null && !handles(to, type))
      problems.push(`events: "${before}": no state of ${versionOf(to)} handles the event "${type}"`);
  if (problems.length > 0) throw new Error(problems.join('; '));
}

const handles = (machine: AnyStateMachine, type: string): boolean =>
  nodesOf(machine).some((node) => candidatesFor(node, type).length > 0);

/** Returns the path in the current version, according to the longest prefix of it that the rule maps. */
function mappedPath(path: string, { state }: Migration): string {
  if (typeof state === 'function') return path;
  const keys = path.split('.');
  for (let length = keys.length; length > 0; length -= 1) {
    const part = keys.slice(0, length).join('.');
    if (Object.hasOwn(state ?? {}, part)) return [state?.[part], ...keys.slice(length)].join('.');
  }
  return path;
}

const targetPath = (path: string, rule: Migration, context: unknown): string =>
  typeof rule.state === 'function' ? rule.state(path, context as never) : mappedPath(path, rule);

function targetOf(leaf: AnyStateNode, to: AnyStateMachine, rule: Migration, context: unknown): AnyStateNode {
  const path = pathOf(leaf);
  const target = targetPath(path, rule, context);
  const node = nodeAt(to, target);
  const isEnd = node?.type === 'final' && leaf.type !== 'final';
  if (node !== undefined && node.type !== 'history' && !isEnd) return node;
  const problem = node === undefined ? 'does not exist' : `is a ${node.type} state`;
  throw new Error(`state "${path}" maps to "${target}", which ${problem} in ${versionOf(to)}; map it to another state`);
}

/** Returns the value in which all these states are active. */
function stateValue(nodes: readonly AnyStateNode[]): StateValue {
  const value: Record<string, object> = {};
  for (const node of nodes) {
    let within = value;
    let parent = node.machine.root as AnyStateNode;
    for (const key of node.path) {
      const other = Object.keys(within).find((name) => name !== key);
      if (parent.type !== 'parallel' && other !== undefined)
        throw new Error(
          `the states ${nodes.map((one) => `"${pathOf(one)}"`).join(', ')} cannot be active together in ${versionOf(node.machine)}`,
        );
      within[key] ??= {};
      within = within[key] as Record<string, object>;
      parent = parent.states[key] as AnyStateNode;
    }
  }
  return value as StateValue;
}

const isDone = ({ type, states }: AnyStateNode, active: ReadonlySet<AnyStateNode>): boolean =>
  type === 'parallel'
    ? Object.values(states).every((node) => ['final', 'history'].includes(node.type) || isDone(node, active))
    : Object.values(states).some((node) => node.type === 'final' && active.has(node));

/** Returns the done states with an effect: those with an `onDone`, and the root, which ends the machine. */
function endsIn(leaves: readonly AnyStateNode[]): readonly AnyStateNode[] {
  const active = new Set(leaves.flatMap(withAncestors));
  const acts = (node: AnyStateNode): boolean =>
    node.parent === undefined || candidatesFor(node, `xstate.done.state.${node.id}`).length > 0;
  return [...active].filter((node) => isDone(node, active) && acts(node));
}

/** Throws if a state is done only in the current version: nothing enters its final state there, so what follows would never happen. */
function requireNotDone(
  targets: ReadonlyMap<AnyStateNode, AnyStateNode>,
  nodes: readonly AnyStateNode[],
  to: AnyStateMachine,
): void {
  const before = new Set(endsIn([...targets.keys()]));
  const moved = [...targets].map(([leaf, target]) => ({ leaf, target, around: withAncestors(target) }));
  const known = moved.filter(({ leaf }) => withAncestors(leaf).some((node) => before.has(node)));
  const done = endsIn(nodes).find((node) => !known.some(({ around }) => around.includes(node)));
  if (done === undefined) return;
  const leads = moved.filter(({ around, target }) => around.includes(done) || withAncestors(done).includes(target));
  const names = leads.map(({ leaf }) => `"${pathOf(leaf)}"`).join(', ');
  const which = names === '' ? 'a new state' : `the state ${names}`;
  throw new Error(
    done.parent === undefined
      ? `${which} ends the machine in ${versionOf(to)}; map it to a state that is not final`
      : `${which} makes "${pathOf(done)}" done in ${versionOf(to)}, but a migration does not take "onDone"; map it to the state that follows`,
  );
}

/** Returns the states to which history states return, without those that the current version lacks. */
function historyIn({ snapshot }: Keyframe, context: unknown, { from, to, rule }: Versions): Json {
  const idNow = (id: string) => nodeAt(to, targetPath(pathOf(from.getStateNodeById(id)), rule, context))?.id;
  const known = snapshot.historyValue as Readonly<Record<string, readonly { readonly id: string }[]>>;
  const entries = Object.entries(known).flatMap(([id, nodes]) => {
    const [now, ...ids] = [id, ...nodes.map((node) => node.id)].map(idNow);
    return now === undefined || ids.includes(undefined) ? [] : [[now, ids.map((one) => ({ id: one }))]];
  });
  return Object.fromEntries(entries) as Json;
}

/** An invoked actor or a delay of a state. Its name is the same in both versions; its id may differ. */
interface Started {
  readonly name: string;
  readonly id: string;
}

const isDelay = (type: string): boolean => type.startsWith('xstate.after.');

const delaysOf = ({ id, transitions }: AnyStateNode): readonly Started[] =>
  [...transitions.keys()].filter(isDelay).map((type) => ({ name: type.slice(0, -id.length), id: type }));

const invokesOf = ({ invoke }: AnyStateNode): readonly Started[] =>
  invoke.map(({ src, id }, index) => ({
    name: typeof src === 'string' && !src.startsWith('xstate.invoke.') ? src : `inline ${index}`,
    id,
  }));

/** Matches the invoked actors or delays of both versions by name. */
class Matcher {
  readonly #targets: ReadonlyMap<AnyStateNode, AnyStateNode>;
  readonly #nodes: readonly AnyStateNode[];
  readonly #rule: Migration;

  constructor(targets: ReadonlyMap<AnyStateNode, AnyStateNode>, nodes: readonly AnyStateNode[], rule: Migration) {
    this.#targets = targets;
    this.#nodes = nodes;
    this.#rule = rule;
  }

  /** Returns the ids in the current version, by those in the earlier one. States with the same path are matched first. */
  match(startedBy: (node: AnyStateNode) => readonly Started[]): ReadonlyMap<string, string> {
    const matches = new Map<string, string>();
    const now = this.#nodes.flatMap((node) => startedBy(node).map((started) => ({ node, ...started })));
    for (const isClose of [this.#isSameState, this.#isRelated])
      for (const { node, name, id } of now) {
        if ([...matches.values()].includes(id)) continue;
        const before = this.#old.filter((one) => isClose(one, node)).flatMap(startedBy);
        const free = before.find((one) => one.name === name && !matches.has(one.id));
        if (free !== undefined) matches.set(free.id, id);
      }
    return matches;
  }

  get #old(): readonly AnyStateNode[] {
    return [...new Set([...this.#targets.keys()].flatMap(withAncestors))];
  }

  readonly #isSameState = (before: AnyStateNode, now: AnyStateNode): boolean =>
    (this.#targets.get(before) ?? null) === now || mappedPath(pathOf(before), this.#rule) === pathOf(now);

  /** Whether `before`, or a state inside it, moves into `now`, or to a state around it. */
  readonly #isRelated = (before: AnyStateNode, now: AnyStateNode): boolean =>
    [...this.#targets].some(
      ([leaf, target]) =>
        withAncestors(leaf).includes(before) &&
        (withAncestors(target).includes(now) || withAncestors(now).includes(target)),
    );
}

const withAncestors = (node: AnyStateNode): readonly AnyStateNode[] => [
  node,
  ...(node.parent === undefined ? [] : withAncestors(node.parent)),
];

type KeptTimer = Keyframe['timers'][number];

/** Keeps an `after` delay if the current version has it too, and any other delayed event unless the rule drops it. */
function keptTimer(
  timer: KeptTimer,
  delays: ReadonlyMap<string, string>,
  { from, to, rule: { events = {} } }: Versions,
): readonly KeptTimer[] {
  const event = timer.event as { readonly type: string };
  if (isDelay(event.type)) {
    const type = delays.get(event.type);
    return type === undefined ? [] : [{ ...timer, event: { ...event, type }, id: type }];
  }
  const type = Object.hasOwn(events, event.type) ? events[event.type] : event.type;
  if (type == null) return [];
  if (handles(from, event.type) && !handles(to, type))
    throw new Error(
      `events: no state of ${versionOf(to)} handles the delayed event "${type}"; map it to another type, or to null to drop it`,
    );
  return [{ ...timer, event: { ...event, type } }];
}
