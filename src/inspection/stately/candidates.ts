import type { StateOutline, TransitionOutline } from './machine-outline.ts';

/** The transitions of a state that an event is offered to, in order: as XState has it, exact names first, then the longest pattern. */
export function candidatesFor(state: StateOutline, eventType: string): readonly TransitionOutline[] {
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
