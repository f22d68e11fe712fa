import type { ChartState } from '../../engine/charts/chart.ts';
import { actionOf, guardOf } from './config-names.ts';
import { isMembers, listOf, type Members, membersOf } from './json-members.ts';

/** A state of a machine, as XState makes it of a configuration. */
export interface StateOutline {
  readonly id: string;
  readonly key: string;
  readonly parent: StateOutline | null;
  readonly type: ChartState['type'];
  readonly description: string;
  readonly initial: string | null;
  readonly invokes: readonly { readonly id: string; readonly src: string }[];
  readonly children: Map<string, StateOutline>;
  /** By the type of the event as it comes at run time, in the order in which candidates are asked. */
  readonly transitions: Map<string, TransitionOutline[]>;
  readonly always: TransitionOutline[];
  /** What `after` has, by the type of its event. */
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
  /** It has more states or transitions than are read. */
  readonly cut: boolean;
}

const MAX_STATES = 2000;
const MAX_TRANSITIONS = 20_000;
/** An id holds the names of all states around it. */
const MAX_ID_CHARS = 2_000;
/** Of one event in one state. */
const MAX_CANDIDATES = 64;
const TYPES: ReadonlySet<unknown> = new Set(['atomic', 'compound', 'parallel', 'final', 'history']);

interface Reading {
  readonly states: Map<string, StateOutline>;
  readonly configs: Map<StateOutline, Members>;
  transitions: number;
  cut: boolean;
}

/** A machine out of its configuration: read as XState reads it, but where XState would throw, the part is left out. */
export function machineOutline(definition: Members): MachineOutline {
  const reading: Reading = { states: new Map(), configs: new Map(), transitions: 0, cut: false };
  const id = textOf(definition['id']).slice(0, MAX_ID_CHARS) || '(machine)';
  const root = readState(definition, id, null, id, reading);
  for (const [state, config] of reading.configs) readTransitions(state, config, reading);
  return { root, states: reading.states, cut: reading.cut };
}

function readState(
  config: Members,
  key: string,
  parent: StateOutline | null,
  path: string,
  all: Reading,
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
  all.states.set(id, state);
  all.configs.set(state, config);
  for (const [name, child] of children) {
    const below = `${path}.${name}`;
    const called = textOf(membersOf(child)['id']) || below;
    if (all.states.size >= MAX_STATES || below.length > MAX_ID_CHARS || called.length > MAX_ID_CHARS) all.cut = true;
    else if (!all.states.has(called)) state.children.set(name, readState(membersOf(child), name, state, below, all));
  }
  return state;
}

function readTransitions(state: StateOutline, config: Members, all: Reading): void {
  const add = (eventType: string, candidates: unknown): void => {
    const known = state.transitions.get(eventType) ?? [];
    known.push(...read(eventType, candidates));
    if (known.length > 0) state.transitions.set(eventType, known);
  };
  const read = (eventType: string, candidates: unknown): TransitionOutline[] => {
    const list = listOf(candidates).slice(0, Math.min(MAX_CANDIDATES, MAX_TRANSITIONS - all.transitions));
    if (list.length < listOf(candidates).length) all.cut = true;
    all.transitions += list.length;
    return list.map((candidate) => transitionOf(state, eventType, candidate, all.states));
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

interface Place<State> {
  readonly key: string;
  readonly parent: State | null;
  readonly children: ReadonlyMap<string, State>;
}

/** The state that a transition names: `#id`, `#id.below`, `.child`, `sibling`, `sibling.below`. Null where there is none. */
function targetOf<State extends Place<State>>(
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

function descend<State extends Place<State>>(from: State | undefined, path: readonly string[]): State | null {
  let state = from;
  for (const key of path) state = state?.children.get(key);
  return state ?? null;
}

/** Points part the keys; a point behind a backslash belongs to its key. */
function pathOf(target: string): readonly string[] {
  return (target.match(/(?:\\.|[^.\\])+/gu) ?? []).map((key) => key.replace(/\\(.)/gu, '$1'));
}
