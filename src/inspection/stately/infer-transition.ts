import type { RuntimeEvent } from '../../../machines/contracts/journal.ts';
import { initialLeaves, withAncestors } from './active-states.ts';
import type { StateOutline, TransitionOutline } from './machine-outline.ts';

type TransitionFact = Extract<RuntimeEvent, { type: 'transition' }>;
type Candidates = TransitionFact['candidates'];
type Leaves = readonly StateOutline[];

export interface InferredTransition {
  /** The state whose transition it was; where none is found, what all states that were left have in common. */
  readonly source: string;
  readonly candidates: Candidates;
  /** A transition of the chart leads where the actor went. */
  readonly explained: boolean;
}

/**
 * Which transition an event took, of which only the states before and after are known: the first candidate, from the innermost state
 * outwards, that enters what is now active; failing that, one that leads there by way of transitions that are taken at once.
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

/** What is entered by default is what is active now, and some of it was not before. */
function entersAll({ target }: TransitionOutline, { leaves, before }: After): boolean {
  const entered = target.flatMap(initialLeaves);
  return entered.every((leaf) => leaves.has(leaf)) && entered.some((leaf) => !before.has(leaf));
}

/** The targets are active, and something in them that was not; a history state may lead to anything around it. */
function entersSome({ target }: TransitionOutline, { active, leaves, before }: After): boolean {
  const places = target.map((state) => (state.type === 'history' && state.parent ? state.parent : state));
  return (
    places.length > 0 &&
    places.every((state) => active.has(state)) &&
    [...leaves].some((leaf) => !before.has(leaf) && places.some((place) => isWithin(leaf, place)))
  );
}

function reaches(transition: TransitionOutline, { leaves, before }: After): boolean {
  return reachable(transition).some((leaf) => leaves.has(leaf) && !before.has(leaf));
}

const MAX_REACHED = 64;
const reached = new WeakMap<TransitionOutline, Leaves>();

/** The innermost states that a transition may come to by `always` and `onDone`. */
function reachable(transition: TransitionOutline): Leaves {
  const known = reached.get(transition);
  if (known !== undefined) return known;
  const leaves = new Set(transition.target.flatMap(initialLeaves));
  for (const leaf of leaves) {
    if (leaves.size >= MAX_REACHED) break;
    for (let state: StateOutline | null = leaf; state !== null; state = state.parent) {
      const next = [...state.always, ...(state.transitions.get(`xstate.done.state.${state.id}`) ?? [])];
      for (const entered of next.flatMap(({ target }) => target.flatMap(initialLeaves))) leaves.add(entered);
    }
  }
  reached.set(transition, [...leaves]);
  return [...leaves];
}

const outlines = new WeakMap<TransitionOutline, Candidates>();

/** The same each time for a transition, so made once and shared by its entries. None where there was nothing to choose. */
function candidatesOf(taken: TransitionOutline, group: readonly TransitionOutline[]): Candidates {
  if (group.length === 1 && taken.guard === null) return [];
  const known = outlines.get(taken);
  if (known !== undefined) return known;
  const position = group.indexOf(taken);
  const candidates: Candidates = group.map(({ guard, target }, index) => ({
    guard,
    target: target.map(({ id }) => id),
    verdict: index < position ? 'false' : index === position ? 'taken' : 'not-evaluated',
    inputs: null,
  }));
  outlines.set(taken, candidates);
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

function isWithin(state: StateOutline, place: StateOutline): boolean {
  for (let at: StateOutline | null = state; at !== null; at = at.parent) if (at === place) return true;
  return false;
}

/** The transitions of a state that an event is offered to, in order: as XState has it, exact names first, then the longest pattern. */
function candidatesFor(state: StateOutline, eventType: string): readonly TransitionOutline[] {
  const exact = state.transitions.get(eventType) ?? [];
  const matching = patternsOf(state).filter((pattern) => pattern !== eventType && matches(eventType, pattern));
  if (matching.length === 0) return exact;
  return [...exact, ...matching.flatMap((pattern) => state.transitions.get(pattern) ?? [])];
}

const patterns = new WeakMap<StateOutline, readonly string[]>();

/** The longest first. */
function patternsOf(state: StateOutline): readonly string[] {
  const known = patterns.get(state);
  if (known !== undefined) return known;
  const found = [...state.transitions.keys()].filter((name) => name === '*' || name.endsWith('.*'));
  found.sort((one, other) => other.length - one.length);
  patterns.set(state, found);
  return found;
}

function matches(eventType: string, pattern: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('.*')) return false;
  const start = pattern.slice(0, -2);
  return eventType === start || eventType.startsWith(`${start}.`);
}
