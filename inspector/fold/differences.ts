import microdiff from 'microdiff';

/** A changed value in a state. `before` or `after` is undefined if there is none. */
export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** The values that differ between two objects, as paths with dots. */
export const changedFields = (before: object, after: object): readonly FieldDifference[] =>
  microdiff(before, after, { cyclesFix: false }).map((difference) => ({
    path: difference.path.join('.'),
    before: difference.type === 'CREATE' ? undefined : difference.oldValue,
    after: difference.type === 'REMOVE' ? undefined : difference.value,
  }));
