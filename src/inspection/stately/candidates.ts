import type { StateOutline, TransitionOutline } from './machine-outline.ts';

/** The transitions of a state that an event is offered to, in order: as XState has it, exact names first, then the longest pattern. */
export function candidatesFor(state: StateOutline, eventType: string): readonly TransitionOutline[] {
  const exact = state.transitions.get(eventType) ?? [];
  const patterns = [...state.transitions.keys()].filter(
    (pattern) => pattern !== eventType && matches(eventType, pattern),
  );
  if (patterns.length === 0) return exact;
  patterns.sort((one, other) => other.length - one.length);
  return [...exact, ...patterns.flatMap((pattern) => state.transitions.get(pattern) ?? [])];
}

function matches(eventType: string, pattern: string): boolean {
  if (pattern === '*') return true;
  if (!pattern.endsWith('.*')) return false;
  const start = pattern.slice(0, -2);
  return eventType === start || eventType.startsWith(`${start}.`);
}
