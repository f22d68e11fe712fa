import type { Exploration } from '../exploration/exploration.ts';
import type { Path } from '../exploration/paths.ts';

/** Something that is to hold of all that a machine can do. */
export interface Property {
  readonly name: string;
  /** It can be told only of all that a machine can do, and not of its first steps. */
  readonly ofWhole?: boolean;
  /** Why it does not hold, or null where it does. */
  check(exploration: Exploration): Witness | null;
}

/** That a property does not hold: in words, and the shortest path that shows it, where one does. */
export interface Witness {
  readonly what: string;
  readonly path: Path | null;
}

/** Of a property, whether it holds. */
export interface Finding {
  readonly property: string;
  readonly witness: Witness | null;
}

/** Holds an exploration against properties, in their order. Of one that was bounded in depth, those are left out that want all of it. */
export const findingsOf = (exploration: Exploration, properties: readonly Property[]): readonly Finding[] =>
  properties
    .filter(({ ofWhole = false }) => exploration.isWhole || !ofWhole)
    .map((property) => ({ property: property.name, witness: property.check(exploration) }));

/** A finding in a line: the property, and where it does not hold, why, and how to come there. */
export function describeFinding({ property, witness }: Finding): string {
  if (witness === null) return `holds: ${property}`;
  const { what, path } = witness;
  return `FAILS: ${property}: ${what}${path === null ? '' : `, after ${path.name}`}`;
}
