import { isMembers } from './json-members.ts';
import type { StateOutline } from './machine-outline.ts';

/** The innermost states of a state value that the outline knows, in document order; the root alone where it knows none. */
export function activeLeaves(state: StateOutline, value: unknown): readonly StateOutline[] {
  const below = typeof value === 'string' ? { [value]: undefined } : isMembers(value) ? value : {};
  const leaves = [...state.children]
    .filter(([key]) => Object.hasOwn(below, key))
    .flatMap(([key, child]) => activeLeaves(child, below[key]));
  return leaves.length > 0 ? leaves : [state];
}

/** The states themselves and all around them. */
export function withAncestors(leaves: Iterable<StateOutline>): ReadonlySet<StateOutline> {
  const active = new Set<StateOutline>();
  for (const leaf of leaves)
    for (let state: StateOutline | null = leaf; state !== null && !active.has(state); state = state.parent)
      active.add(state);
  return active;
}

const entered = new WeakMap<StateOutline, readonly StateOutline[]>();

/** The innermost states that are entered with a state, where nothing else is said; a history state is entered as itself. */
export function initialLeaves(state: StateOutline): readonly StateOutline[] {
  const known = entered.get(state);
  if (known !== undefined) return known;
  const first = state.children.get(state.initial ?? '');
  const next = state.type === 'parallel' ? [...state.children.values()] : first === undefined ? [] : [first];
  const leaves = next.filter(({ type }) => type !== 'history').flatMap(initialLeaves);
  entered.set(state, leaves.length > 0 ? leaves : [state]);
  return entered.get(state) ?? [state];
}
