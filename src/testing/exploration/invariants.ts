import type { AnyMachineSnapshot } from 'xstate';
import { firstLineOf } from '../first-line.ts';

/** What must hold of every snapshot; one that returns false, or throws, fails the path. */
export type Invariants = Readonly<Record<string, (snapshot: AnyMachineSnapshot) => unknown>>;

/** The first that does not hold, in words; null where all do. */
export function brokenInvariant(invariants: Invariants, snapshot: AnyMachineSnapshot): string | null {
  for (const [name, holds] of Object.entries(invariants)) {
    const why = whyNot(() => holds(snapshot));
    if (why !== null) return `The invariant "${name}" does not hold in ${JSON.stringify(snapshot.value)}${why}`;
  }
  return null;
}

function whyNot(holds: () => unknown): string | null {
  try {
    return holds() === false ? '' : null;
  } catch (error) {
    return `: ${firstLineOf(error)}`;
  }
}
