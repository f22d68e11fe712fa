import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';

/** Schemas that hold together, with no choice, reference or `allOf` left at their top. */
export type Together = readonly JsonNode[];

/** What a value in some place may be: one alternative at least must hold; none means that nothing may stand there. */
export interface Choice {
  readonly alternatives: readonly Together[];
}

export type ChoiceOf = (schemas: readonly unknown[]) => Choice;

/** A schema with more is taken as one that takes anything, so that no schema costs more than it is worth. */
const MAX_ALTERNATIVES = 1_000;
/** So too one that takes more steps to read: references that refer to each other multiply. */
const MAX_STEPS = 1_000;
const ANYTHING: JsonNode = {};

/**
 * Reads a JSON Schema (draft 7; what newer drafts call these things is understood too) as choices between plain alternatives. Each is
 * worked out once: asked for the same schemas again, the same choice is given, also in a schema that refers to itself.
 */
export function readAlternatives(root: JsonSchema): ChoiceOf {
  const choices = new Map<string, Choice>();
  const numbers = new Map<unknown, number>();
  let steps = 0;

  function numberOf(schema: unknown): number {
    const known = numbers.get(schema) ?? numbers.size;
    numbers.set(schema, known);
    return known;
  }

  return (schemas) => {
    const key = schemas.map(numberOf).join();
    const known = choices.get(key);
    if (known !== undefined) return known;
    steps = 0;
    const read = bounded(all(schemas.map((schema) => expanded(schema, []))));
    const made = { alternatives: steps > MAX_STEPS ? [[ANYTHING]] : read };
    choices.set(key, made);
    return made;
  };

  function expanded(schema: unknown, refs: readonly string[]): readonly Together[] {
    steps += 1;
    if (schema === false) return [];
    if (!isJsonNode(schema) || steps > MAX_STEPS) return [[ANYTHING]];
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    const either = [anyOf, oneOf].filter(Array.isArray);
    return all([
      [[own]],
      ...(typeof $ref === 'string' ? [referred($ref, refs)] : []),
      ...(Array.isArray(allOf) ? allOf.map((one) => expanded(one, refs)) : []),
      ...either.map((choice) => bounded(choice.flatMap((one) => expanded(one, refs)))),
    ]);
  }

  function referred(ref: string, refs: readonly string[]): readonly Together[] {
    return refs.includes(ref) ? [[ANYTHING]] : expanded(referredTo(root, ref), [...refs, ref]);
  }
}

/** What a reference within a schema points to; null where that is nothing, or lies elsewhere. */
export function referredTo(root: JsonSchema, ref: string): unknown {
  if (!/^#(\/|$)/u.test(ref)) return null;
  const names = ref.split('/').slice(1);
  return names.reduce<unknown>((node, name) => {
    const key = decoded(name).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) return node[Number(key)];
    return isJsonNode(node) && Object.hasOwn(node, key) ? node[key] : null;
  }, root);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Every way to take one alternative of each list, put together. */
function all(lists: readonly (readonly Together[])[]): readonly Together[] {
  return lists.reduce<readonly Together[]>(
    (made, list) =>
      made.length * list.length > MAX_ALTERNATIVES
        ? [[ANYTHING]]
        : made.flatMap((one) => list.map((other) => [...one, ...other])),
    [[]],
  );
}

function bounded(alternatives: readonly Together[]): readonly Together[] {
  return alternatives.length > MAX_ALTERNATIVES ? [[ANYTHING]] : alternatives;
}
