import type { ChartState } from '../../durable/charts/chart.ts';
import { guardName } from '../../durable/charts/guard-label.ts';

/** A state of a machine, read from its configuration as XState reads it. */
export interface StateOutline {
  readonly id: string;
  readonly key: string;
  readonly parent: StateOutline | null;
  readonly type: ChartState['type'];
  readonly description: string;
  readonly initial: string | null;
  readonly invokes: readonly { readonly id: string; readonly src: string }[];
  readonly children: Map<string, StateOutline>;
  /** By the event type at run time, each list in the order in which candidates are evaluated. */
  readonly transitions: Map<string, TransitionOutline[]>;
  readonly always: TransitionOutline[];
  /** The delays of `after`, by event type. */
  readonly delays: Map<string, string>;
}

export interface TransitionOutline {
  readonly source: StateOutline;
  readonly eventType: string;
  readonly guard: string | null;
  readonly target: readonly StateOutline[];
  readonly actions: readonly string[];
}

export interface MachineOutline {
  readonly root: StateOutline;
  /** In document order. */
  readonly states: ReadonlyMap<string, StateOutline>;
  /** The machine has more states or transitions than the limits allow. */
  readonly isIncomplete: boolean;
}

const MAX_STATES = 2000;
const MAX_TRANSITIONS = 20_000;
/** An id contains the names of all ancestors. */
const MAX_ID_CHARS = 2_000;
/** For one event in one state. */
const MAX_CANDIDATES = 64;
const TYPES: ReadonlySet<unknown> = new Set(['atomic', 'compound', 'parallel', 'final', 'history']);

interface OutlineBuilder {
  readonly states: Map<string, StateOutline>;
  readonly configs: Map<StateOutline, Members>;
  transitions: number;
  isIncomplete: boolean;
}

/** Returns the outline of a machine from its configuration. Reads it as XState does, but skips parts for which XState would throw. */
export function machineOutline(definition: Members): MachineOutline {
  const builder: OutlineBuilder = { states: new Map(), configs: new Map(), transitions: 0, isIncomplete: false };
  const id = textOf(definition['id']).slice(0, MAX_ID_CHARS) || '(machine)';
  const root = readState(definition, id, null, id, builder);
  for (const [state, config] of builder.configs) readTransitions(state, config, builder);
  return { root, states: builder.states, isIncomplete: builder.isIncomplete };
}

function readState(
  config: Members,
  key: string,
  parent: StateOutline | null,
  path: string,
  builder: OutlineBuilder,
): StateOutline {
  const id = textOf(config['id']).slice(0, MAX_ID_CHARS) || path;
  const children = Object.entries(membersOf(config['states'])).filter(([, child]) => isMembers(child));
  const state: StateOutline = {
    id,
    key,
    parent,
    type: typeOf(config, children.length),
    description: textOf(config['description']),
    initial: textOf(membersOf(config['initial'])['target'] ?? config['initial']) || null,
    invokes: listOf(config['invoke']).map((invoke, index) => invokeOf(membersOf(invoke), `${index}.${id}`)),
    children: new Map(),
    transitions: new Map(),
    always: [],
    delays: new Map(),
  };
  builder.states.set(id, state);
  builder.configs.set(state, config);
  for (const [name, child] of children) {
    const below = `${path}.${name}`;
    const childId = textOf(membersOf(child)['id']) || below;
    if (builder.states.size >= MAX_STATES || below.length > MAX_ID_CHARS || childId.length > MAX_ID_CHARS)
      builder.isIncomplete = true;
    else if (!builder.states.has(childId))
      state.children.set(name, readState(membersOf(child), name, state, below, builder));
  }
  return state;
}

function readTransitions(state: StateOutline, config: Members, builder: OutlineBuilder): void {
  const add = (eventType: string, candidates: unknown): void => {
    const known = state.transitions.get(eventType) ?? [];
    known.push(...read(eventType, candidates));
    if (known.length > 0) state.transitions.set(eventType, known);
  };
  const read = (eventType: string, candidates: unknown): TransitionOutline[] => {
    const list = listOf(candidates).slice(0, Math.min(MAX_CANDIDATES, MAX_TRANSITIONS - builder.transitions));
    if (list.length < listOf(candidates).length) builder.isIncomplete = true;
    builder.transitions += list.length;
    return list.map((candidate) => transitionOf(state, eventType, candidate, builder.states));
  };
  for (const [eventType, candidates] of Object.entries(membersOf(config['on']))) add(eventType, candidates);
  add(`xstate.done.state.${state.id}`, config['onDone']);
  for (const [index, { id }] of state.invokes.entries()) {
    const invoke = membersOf(listOf(config['invoke'])[index]);
    add(`xstate.done.actor.${id}`, invoke['onDone']);
    add(`xstate.error.actor.${id}`, invoke['onError']);
    add(`xstate.snapshot.${id}`, invoke['onSnapshot']);
  }
  for (const [name, candidates] of Object.entries(membersOf(config['after']))) {
    const delay = Number.isNaN(Number(name)) ? name : String(Number(name));
    const eventType = `xstate.after.${delay}.${state.id}`;
    state.delays.set(eventType, delay);
    add(eventType, candidates);
  }
  state.always.push(...read('', config['always']));
}

function transitionOf(
  source: StateOutline,
  eventType: string,
  candidate: unknown,
  states: ReadonlyMap<string, StateOutline>,
): TransitionOutline {
  const { target, guard, actions } = isMembers(candidate) ? candidate : { target: candidate };
  const targets = listOf(target).filter((name) => typeof name === 'string' && name !== '') as string[];
  return {
    source,
    eventType,
    guard: guardOf(guard),
    target: targets.flatMap((name) => targetOf(source, name, states) ?? []),
    actions: listOf(actions).map(actionOf),
  };
}

function typeOf({ type, history }: Members, children: number): StateOutline['type'] {
  if (TYPES.has(type)) return type as StateOutline['type'];
  if (children > 0) return 'compound';
  return history ? 'history' : 'atomic';
}

function invokeOf({ id, src }: Members, defaultId: string): StateOutline['invokes'][number] {
  return { id: textOf(id) || defaultId, src: typeof src === 'string' ? src : `xstate.invoke.${defaultId}` };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

interface StateNode<State> {
  readonly key: string;
  readonly parent: State | null;
  readonly children: ReadonlyMap<string, State>;
}

/** Resolves a target: `#id`, `#id.below`, `.child`, `sibling` or `sibling.below`. Null if there is no such state. */
function targetOf<State extends StateNode<State>>(
  source: State,
  target: string,
  byId: ReadonlyMap<string, State>,
): State | null {
  if (target.startsWith('#')) {
    const [id = '', ...below] = pathOf(target.slice(1));
    return byId.get(target.slice(1)) ?? descend(byId.get(id), below);
  }
  if (target.startsWith('.')) return descend(source, pathOf(target.slice(1)));
  return source.parent && descend(source.parent, pathOf(target));
}

function descend<State extends StateNode<State>>(from: State | undefined, path: readonly string[]): State | null {
  let state = from;
  for (const key of path) state = state?.children.get(key);
  return state ?? null;
}

/** Splits a path at dots; a dot after a backslash belongs to its key. */
function pathOf(target: string): readonly string[] {
  return (target.match(/(?:\\.|[^.\\])+/gu) ?? []).map((key) => key.replace(/\\(.)/gu, '$1'));
}

/** XState's built-in actions by function name: `@statelyai/inspect` writes a function as an object with its name. */
const BUILT_IN_ACTIONS: ReadonlyMap<string, string> = new Map([
  ...['assign', 'raise', 'sendTo', 'emit', 'log', 'cancel', 'enqueueActions', 'spawnChild', 'stopChild'].map(
    (name) => [name, `xstate.${name}`] as const,
  ),
  ['stop', 'xstate.stopChild'],
]);
/** JavaScript names an anonymous function after the property that holds it. */
const ANONYMOUS: ReadonlySet<string> = new Set(['', 'guard', 'actions', 'params']);

/** Returns the name of a transition's guard; null if it has none. */
function guardOf(guard: unknown): string | null {
  if (guard === undefined || guard === null) return null;
  if (typeof guard === 'string') return guard;
  const type = typeName(guard);
  if (type === null || (isFunction(guard) && ANONYMOUS.has(type))) return 'inline';
  const { params } = guard as Members;
  return guardName(type, isFunction(params) ? undefined : params);
}

function actionOf(action: unknown): string {
  if (typeof action === 'string') return action;
  const type = typeName(action);
  if (type === null) return 'inline';
  if (!isFunction(action)) return type;
  return ANONYMOUS.has(type) ? 'inline' : (BUILT_IN_ACTIONS.get(type) ?? type);
}

const typeName = (value: unknown): string | null =>
  isMembers(value) && typeof value['type'] === 'string' ? value['type'] : null;

/** A written function looks like an object that has only a type; such an object would normally be a string. */
function isFunction(value: unknown): boolean {
  return typeName(value) !== null && Object.keys(value as Members).length === 1;
}

export type Members = Readonly<Record<string, unknown>>;

/** Returns a JSON object as it is, and an empty object for anything else. */
function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a list, as XState does for a property that may be a list, one item or absent. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
