import type * as z from 'zod/mini';

/** A rule that a JSON Schema cannot express: the message of its author, and the path of the value that it applies to. */
interface Rule {
  readonly path: string;
  readonly message: string;
}

const MAX_DEPTH = 8;

type Def = Readonly<Record<string, unknown>>;

/** Returns the refinements of a zod schema that have a custom message, except those within unions; none for any other schema. */
export function zodRules(schema: unknown, path = '', depth = 0): readonly Rule[] {
  const def = defOf(schema);
  if (def === null || depth > MAX_DEPTH) return [];
  const { checks, shape, element, innerType, in: input } = def;
  const members = Object.entries((shape as Def | undefined) ?? {});
  return [
    ...(Array.isArray(checks) ? checks : []).flatMap((check) => ruleOf(defOf(check), path)),
    ...members.flatMap(([name, member]) => zodRules(member, joined(path, name), depth + 1)),
    ...zodRules(element, `${path}[]`, depth + 1),
    ...zodRules(innerType, path, depth + 1),
    ...zodRules(input, path, depth + 1),
  ];
}

const defOf = (schema: unknown): Def | null =>
  ((schema as Partial<z.core.$ZodType> | null | undefined)?._zod?.def as Def | undefined) ?? null;

const joined = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function ruleOf(def: Def | null, at: string): readonly Rule[] {
  if (def?.['check'] !== 'custom' || typeof def['error'] !== 'function') return [];
  const { error, path = [] } = def as { error: (issue: object) => unknown; path?: readonly PropertyKey[] };
  try {
    const given = error({ code: 'custom', input: undefined, path: [] });
    const message = typeof given === 'object' && given !== null ? (given as { message?: unknown }).message : given;
    return typeof message === 'string' && message !== ''
      ? [{ path: path.reduce<string>((where, key) => joined(where, String(key)), at), message }]
      : [];
  } catch {
    // A message that depends on the value is unknown.
    return [];
  }
}
