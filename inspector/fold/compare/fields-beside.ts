import diff from 'microdiff';

/** A field that differs: its path, and what stands there in each; undefined where nothing does. */
export interface FieldBeside {
  readonly path: string;
  readonly values: readonly unknown[];
}

/** When something happened differs between any two runs, and says nothing. */
const isMoment = (path: readonly (string | number)[]): boolean =>
  path.some(
    (name) => typeof name === 'string' && (name.endsWith('AtMs') || name === 'totalMs' || name === 'durationMs'),
  );

/** The fields in which any of these differs from the first, in the order of the first. */
export function fieldsBeside(values: readonly unknown[]): readonly FieldBeside[] {
  const [first, ...others] = values.map((value) => ({ value }));
  const paths = new Map<string, readonly (string | number)[]>();
  for (const other of others)
    for (const { path } of diff(first ?? {}, other, { cyclesFix: false }))
      if (!isMoment(path)) paths.set(JSON.stringify(path), path.slice(1));
  return [...paths.values()].map((path) => ({ path: path.join('.'), values: values.map((value) => at(value, path)) }));
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, name)
        ? (inside as Readonly<Record<string | number, unknown>>)[name]
        : undefined,
    value,
  );
}
