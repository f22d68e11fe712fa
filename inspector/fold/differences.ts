import microdiff from 'microdiff';

/** A changed value in a state. `before` or `after` is undefined if there is none. */
export interface FieldDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

export interface FieldGroup {
  readonly name: string;
  readonly fields: readonly FieldDifference[];
}

type Members = Readonly<Record<string, unknown>>;

export function stateDifferences(
  before: unknown,
  after: unknown,
  except: readonly string[] = [],
): readonly FieldGroup[] {
  const [one, other] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => {
    const [was, is] = [one[name], other[name]];
    if (except.includes(name) || was === is) return [];
    const fields = changedFields({ [name]: was }, { [name]: is });
    return fields.length === 0 ? [] : [{ name, fields }];
  });
}

/** The values that differ between two objects, as paths with dots. */
export const changedFields = (before: object, after: object): readonly FieldDifference[] =>
  microdiff(before, after, { cyclesFix: false }).map((difference) => ({
    path: difference.path.join('.'),
    before: difference.type === 'CREATE' ? undefined : difference.oldValue,
    after: difference.type === 'REMOVE' ? undefined : difference.value,
  }));

const membersOf = (state: unknown): Members => (typeof state === 'object' && state !== null ? (state as Members) : {});
