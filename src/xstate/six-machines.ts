import type {
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
} from 'xstate';

/** A state of XState 6. */
interface Node6 {
  readonly id: string;
  readonly key: string;
  readonly parent?: Node6;
  readonly machine: Machine6;
  readonly states: Readonly<Record<string, Node6>>;
  readonly transitions: ReadonlyMap<string, readonly Transition6[]>;
  readonly always?: readonly Transition6[];
  readonly initial: { readonly target?: readonly Node6[] };
  readonly invoke: readonly { readonly id: string; readonly src: string; readonly logic: unknown }[];
  readonly config: { readonly entry?: unknown; readonly exit?: unknown };
  entry?: (args: unknown, enqueue: unknown) => unknown;
}

interface Machine6 {
  readonly root: Node6;
  readonly sources: object;
}

/** A transition of XState 6. `to` returns its target and the next context; undefined if it is not taken. */
export interface Transition6 {
  readonly source: Node6;
  readonly target?: readonly Node6[];
  readonly eventType: string;
  readonly delay?: unknown;
  readonly matches?: { readonly actorId?: string; readonly stateId?: string };
  readonly context?: unknown;
  readonly actions?: unknown;
  guard?: (args: unknown) => boolean;
  to?: (args: unknown, enqueue: unknown) => { readonly target?: string | readonly string[] } | undefined;
}

/** The ids of XState's own logic for `enq.listen` and `enq.subscribeTo`. It is not custom code, so it runs within the step. */
export const ATTACHED_LOGIC: ReadonlySet<string> = new Set(['xstate.listener', 'xstate.subscription']);

const machines = new WeakMap<object, AnyStateMachine>();
const nodes = new WeakMap<object, AnyStateNode>();
const transitions = new WeakMap<object, AnyTransitionDefinition>();
const originals = new WeakMap<object, Transition6>();
const chosen = new WeakMap<object, readonly AnyStateNode[] | undefined>();

/** Returns the description of a machine: a copy in the form of version 5, for reading. */
export function described(machine: AnyStateMachine): AnyStateMachine {
  const known = machines.get(machine);
  if (known !== undefined) return known;
  const { root, sources } = machine as unknown as Machine6;
  const copy = Object.create(machine, {
    root: { get: () => describedNode(root) },
    implementations: { value: sources },
    getStateNodeById: { value: (id: string) => describedNode(machine.getStateNodeById(id) as unknown as Node6) },
  });
  machines.set(machine, copy);
  machines.set(copy, copy);
  return copy;
}

function describedNode(node: Node6): AnyStateNode {
  const known = nodes.get(node);
  if (known !== undefined) return known;
  const copy: AnyStateNode = Object.create(node, {
    machine: { get: () => described(node.machine as unknown as AnyStateMachine) },
    parent: { get: () => node.parent && describedNode(node.parent) },
    states: { value: mapValues(node.states, describedNode) },
    entry: { value: functions(node.config.entry) },
    exit: { value: functions(node.config.exit) },
    initial: {
      value: {
        target: (node.states && isCompound(node) ? (node.initial.target ?? []) : []).map(describedNode),
        actions: [],
      },
    },
    invoke: { value: node.invoke },
  });
  nodes.set(node, copy);
  nodes.set(copy, copy);
  const all = [...node.transitions.values()].flat().map(describedTransition);
  const byType = new Map<string, AnyTransitionDefinition[]>();
  for (const transition of all)
    byType.set(transition.eventType, [...(byType.get(transition.eventType) ?? []), transition]);
  Object.defineProperties(copy, {
    transitions: { value: byType },
    always: { value: node.always?.map(describedTransition) },
    after: { value: all.filter((transition) => 'delay' in transition) },
    ownEvents: { value: [...byType.keys()] },
  });
  return copy;
}

const isCompound = ({ states }: Node6): boolean => Object.keys(states).length > 0;

function describedTransition(transition: Transition6): AnyTransitionDefinition {
  const known = transitions.get(transition);
  if (known !== undefined) return known;
  const { source, context, actions, to } = transition;
  let fixed: AnyStateNode[] | undefined;
  const target = () => {
    fixed ??= transition.target?.map(describedNode);
    return fixed;
  };
  const copy: AnyTransitionDefinition = Object.create(transition, {
    source: { get: () => describedNode(source) },
    target: { get: target },
    eventType: { value: typeOf(transition) },
    guard: { get: () => transition.guard, configurable: true },
    actions: { value: [actions ?? [], context ?? [], to ?? []].flat() },
  });
  transitions.set(transition, copy);
  originals.set(copy, transition);
  return copy;
}

/** The event type of a transition, by its name in version 5. */
function typeOf({ eventType, delay, matches = {}, source }: Transition6): string {
  if (eventType === 'xstate.done.actor' || eventType === 'xstate.error.actor' || eventType === 'xstate.timeout.actor')
    return `${eventType}.${matches.actorId}`;
  if (eventType === 'xstate.snapshot.actor') return `xstate.snapshot.${matches.actorId}`;
  if (eventType === 'xstate.done.state') return `xstate.done.state.${source.id}`;
  if (eventType === 'xstate.timeout') return `xstate.timeout.${source.id}`;
  return eventType === 'xstate.after' ? `xstate.after.${delay}.${source.id}` : eventType;
}

/** The type of an event, by its name in version 5. */
export function eventTypeOf(event: AnyEventObject): string {
  const { type } = event;
  if (type === 'xstate.after') return `${type}.${event['delay']}.${event['stateId']}`;
  if (type === 'xstate.snapshot.actor') return `xstate.snapshot.${event['actorId']}`;
  if (/^xstate\.(done|error|timeout)\.actor$/u.test(type)) return `${type}.${event['actorId']}`;
  return /^xstate\.(done\.state|timeout)$/u.test(type) ? `${type}.${event['stateId']}` : type;
}

/** The event of a delay with a name of version 5, as version 6 raises it. */
export function eventFrom(machine: AnyStateMachine, event: AnyEventObject): AnyEventObject {
  for (const { after } of allNodes(described(machine).root))
    for (const transition of after) {
      const { eventType, delay, source } = originals.get(transition) as Transition6;
      if (typeOf(originals.get(transition) as Transition6) === event.type)
        return { type: eventType, ...(eventType === 'xstate.after' && { delay }), stateId: source.id };
    }
  return event;
}

const allNodes = (node: AnyStateNode): readonly AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap(allNodes),
];

export const originalTransition = (transition: AnyTransitionDefinition): Transition6 =>
  originals.get(transition) ?? (transition as unknown as Transition6);

/** The targets of a described transition; those of its last evaluation, if a function chooses them. */
export const targetOf = (transition: AnyTransitionDefinition): AnyTransitionDefinition['target'] =>
  transition.target ?? chosen.get(originalTransition(transition));

export const describedTransitionOf = (transition: Transition6): AnyTransitionDefinition =>
  describedTransition(transition);

/** The states that are active in a snapshot. */
export const activeNodes = (snapshot: AnyMachineSnapshot): readonly AnyStateNode[] =>
  (snapshot as unknown as { readonly nodes: readonly Node6[] }).nodes.map(describedNode);

/** Makes a copy of a machine remember the targets that the functions of its transitions choose. */
export function observeTargets(machine: AnyStateMachine): void {
  const { root } = machine as unknown as Machine6;
  for (const node of within(root))
    for (const transition of [...node.transitions.values(), node.always ?? []].flat()) {
      const { to } = transition;
      if (to === undefined) continue;
      transition.to = (args, enqueue) => {
        const result = to(args, enqueue);
        const target = result?.target === undefined ? undefined : [result.target].flat();
        chosen.set(
          transition,
          target?.map((path) => describedNode(targetFrom(node, path))),
        );
        return result;
      };
    }
}

/**
 * Changes the transitions of a state for an event, by its name in version 5; the eventless ones if it is empty. Changes a copy of a machine
 * that nothing has described yet.
 */
export function editCandidates(
  machine: AnyStateMachine,
  state: string,
  event: string,
  edit: (
    candidates: readonly Transition6[],
    not: (guard: Transition6['guard']) => Transition6['guard'],
  ) => readonly Transition6[],
): void {
  const node = machine.getStateNodeById(state) as unknown as Node6 & { always?: readonly Transition6[] };
  const not = (guard: Transition6['guard']): Transition6['guard'] => guard && ((args) => !guard(args));
  if (event === '') {
    node.always = edit(node.always ?? [], not);
    return;
  }
  const lists = node.transitions as Map<string, readonly Transition6[]>;
  for (const [key, list] of lists) {
    const isOne = (transition: Transition6): boolean => typeOf(transition) === event;
    if (!list.some(isOne)) continue;
    const changed = [...edit(list.filter(isOne), not)];
    // Transitions for the ends of other actors are in the same list.
    const next = [...list.flatMap((one) => (isOne(one) ? changed.splice(0, 1) : [one])), ...changed];
    if (next.length === 0) lists.delete(key);
    else lists.set(key, next);
  }
}

/** Makes a copy of a machine report the states that it enters, after their entry functions. */
export function observeEntries(machine: AnyStateMachine, entered: (id: string) => void): void {
  for (const node of within((machine as unknown as Machine6).root)) {
    const { entry } = node;
    const reporting = (args: unknown, enqueue: unknown): unknown => {
      const result = entry?.(args, enqueue);
      entered(node.id);
      return result;
    };
    // XState marks the functions of entries and exits.
    node.entry = Object.assign(reporting, { _special: true });
  }
}

const within = (node: Node6): readonly Node6[] => [node, ...Object.values(node.states).flatMap(within)];

function targetFrom(source: Node6, path: string): Node6 {
  if (path.startsWith('#')) return source.machine.root.machine && byId(source.machine, path);
  const [start, keys] = path.startsWith('.')
    ? [source, path.slice(1).split('.')]
    : [source.parent ?? source, path.split('.')];
  return keys.reduce((node, key) => node.states[key] as Node6, start);
}

const byId = (machine: Machine6, path: string): Node6 =>
  (machine as unknown as { getStateNodeById: (id: string) => Node6 }).getStateNodeById(path);

const functions = (given: unknown): readonly unknown[] => (given === undefined ? [] : [given].flat());

const mapValues = <Value, Result>(values: Readonly<Record<string, Value>>, map: (value: Value) => Result) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
