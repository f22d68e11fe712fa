import type { RuntimeEvent } from '../../../machines/contracts/journal.ts';
import { isMembers, type StateOutline, type TransitionOutline } from './machine-outline.ts';

type Candidates = Extract<RuntimeEvent, { type: 'transition' }>['candidates'];
type Leaves = readonly StateOutline[];

export interface InferredTransition {
  /** The state that the transition belongs to. If none is found: the common ancestor of all states that were left. */
  readonly source: string;
  readonly candidates: Candidates;
  /** Whether a transition of the chart leads to the new states. */
  readonly explained: boolean;
}

/**
 * Infers the transition that an event took from the states before and after: the first candidate, from the innermost state outward, that
 * enters the active states, or else one that leads there through eventless transitions.
 */
export function inferTransition(eventType: string, from: Leaves, to: Leaves): InferredTransition {
  const states = [...withAncestors(from)].sort((one, other) => depthOf(other) - depthOf(one));
  const groups = [
    ...states.map((state) => candidatesFor(state, eventType)),
    ...states.map((state) => state.always),
  ].filter((group) => group.length > 0);
  const after = { leaves: new Set(to), active: withAncestors(to), before: withAncestors(from) };
  for (const leadsThere of [entersAll, entersSome, reaches]) {
    for (const group of groups) {
      const taken = group.find((transition) => leadsThere(transition, after));
      if (taken !== undefined)
        return { source: taken.source.id, candidates: candidatesOf(taken, group), explained: true };
    }
  }
  return { source: leftState(from, after.leaves).id, candidates: [], explained: false };
}

interface After {
  readonly leaves: ReadonlySet<StateOutline>;
  readonly active: ReadonlySet<StateOutline>;
  readonly before: ReadonlySet<StateOutline>;
}

/** All default states of the targets are active now, and at least one of them was not before. */
function entersAll({ target }: TransitionOutline, { leaves, before }: After): boolean {
  const entered = target.flatMap(initialLeaves);
  return entered.every((leaf) => leaves.has(leaf)) && entered.some((leaf) => !before.has(leaf));
}

/** The targets are active, and a state within them is new. A history state may lead to any state of its parent. */
function entersSome({ target }: TransitionOutline, { active, leaves, before }: After): boolean {
  const entered = target.map((state) => (state.type === 'history' && state.parent ? state.parent : state));
  return (
    entered.length > 0 &&
    entered.every((state) => active.has(state)) &&
    [...leaves].some((leaf) => !before.has(leaf) && entered.some((state) => isWithin(leaf, state)))
  );
}

function reaches(transition: TransitionOutline, { leaves, before }: After): boolean {
  return reachable(transition).some((leaf) => leaves.has(leaf) && !before.has(leaf));
}

const MAX_REACHED = 64;
const reachableCache = new WeakMap<TransitionOutline, Leaves>();

/** Returns the innermost states that a transition may reach through `always` and `onDone`. */
function reachable(transition: TransitionOutline): Leaves {
  const known = reachableCache.get(transition);
  if (known !== undefined) return known;
  const leaves = new Set(transition.target.flatMap(initialLeaves));
  for (const leaf of leaves) {
    if (leaves.size >= MAX_REACHED) break;
    for (let state: StateOutline | null = leaf; state !== null; state = state.parent) {
      const next = [...state.always, ...(state.transitions.get(`xstate.done.state.${state.id}`) ?? [])];
      for (const entered of next.flatMap(({ target }) => target.flatMap(initialLeaves))) leaves.add(entered);
    }
  }
  reachableCache.set(transition, [...leaves]);
  return [...leaves];
}

const candidateCache = new WeakMap<TransitionOutline, Candidates>();

/** Returns the candidates of a taken transition, cached per transition. Empty if there was no choice. */
function candidatesOf(taken: TransitionOutline, group: readonly TransitionOutline[]): Candidates {
  if (group.length === 1 && taken.guard === null) return [];
  const known = candidateCache.get(taken);
  if (known !== undefined) return known;
  const position = group.indexOf(taken);
  const candidates: Candidates = group.map(({ guard, target }, index) => ({
    guard,
    target: target.map(({ id }) => id),
    result: index < position ? 'false' : index === position ? 'taken' : 'not-evaluated',
    inputs: null,
  }));
  candidateCache.set(taken, candidates);
  return candidates;
}

function leftState(from: Leaves, now: ReadonlySet<StateOutline>): StateOutline {
  const left = from.filter((leaf) => !now.has(leaf));
  const [first, ...others] = left.length > 0 ? left : from;
  let state = first as StateOutline;
  while (state.parent !== null && !others.every((leaf) => isWithin(leaf, state))) state = state.parent;
  return state;
}

function depthOf(state: StateOutline): number {
  let depth = 0;
  for (let at = state.parent; at !== null; at = at.parent) depth += 1;
  return depth;
}

function isWithin(state: StateOutline, ancestor: StateOutline): boolean {
  for (let at: StateOutline | null = state; at !== null; at = at.parent) if (at === ancestor) return true;
  return false;
}

/** Returns a state's candidates for an event in XState's order: exact names first, then the longest wildcard. */
function candidatesFor(state: StateOutline, eventType: string): readonly TransitionOutline[] {
  const exact = state.transitions.get(eventType) ?? [];
  const matching = patternsOf(state).filter((pattern) => pattern !== eventType && matches(eventType, pattern));
  if (matching.length === 0) return exact;
  return [...exact, ...matching.flatMap((pattern) => state.transitions.get(pattern) ?? [])];
}

const patternCache = new WeakMap<StateOutline, readonly string[]>();

/** Returns the wildcards of a state, longest first. */
function patternsOf(state: StateOutline): readonly string[] {
  const known = patternCache.get(state);
  if (known !== undefined) return known;
  const found = [...state.transitions.keys()].filter((name) => name === '*' || name.endsWith('.*'));
  found.sort((one, other) => other.length - one.length);
  patternCache.set(state, found);
  return found;
}

function matches(eventType: string, pattern: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('.*')) return false;
  const start = pattern.slice(0, -2);
  return eventType === start || eventType.startsWith(`${start}.`);
}

/** Returns the innermost states of a state value, in document order; only the root if the outline knows none of them. */
export function activeLeaves(state: StateOutline, value: unknown): readonly StateOutline[] {
  const below = typeof value === 'string' ? { [value]: undefined } : isMembers(value) ? value : {};
  const leaves = [...state.children]
    .filter(([key]) => Object.hasOwn(below, key))
    .flatMap(([key, child]) => activeLeaves(child, below[key]));
  return leaves.length > 0 ? leaves : [state];
}

/** Returns the states and their ancestors. */
export function withAncestors(leaves: Iterable<StateOutline>): ReadonlySet<StateOutline> {
  const active = new Set<StateOutline>();
  for (const leaf of leaves)
    for (let state: StateOutline | null = leaf; state !== null && !active.has(state); state = state.parent)
      active.add(state);
  return active;
}

const initialLeavesOf = new WeakMap<StateOutline, readonly StateOutline[]>();

/** Returns the innermost states that are entered by default with a state. A history state counts as itself. */
export function initialLeaves(state: StateOutline): readonly StateOutline[] {
  const known = initialLeavesOf.get(state);
  if (known !== undefined) return known;
  const first = state.children.get(state.initial ?? '');
  const next = state.type === 'parallel' ? [...state.children.values()] : first === undefined ? [] : [first];
  const leaves = next.filter(({ type }) => type !== 'history').flatMap(initialLeaves);
  initialLeavesOf.set(state, leaves.length > 0 ? leaves : [state]);
  return initialLeavesOf.get(state) ?? [state];
}
