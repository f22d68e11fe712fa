import { isJsonNode, type JsonNode } from '../internal/json-schema.ts';
import type { Choice, ChoiceOf, Together } from './schema-alternatives.ts';

/** What may stand in the places of a value that schemas together are about. */
export interface Places {
  /** What the schemas name the members of an object. */
  readonly names: readonly string[];
  /** Whether no other members are allowed. */
  readonly isClosed: boolean;
  /** Null where no schema is about a member of that name. */
  memberAt(name: string): Choice | null;
  itemAt(index: number): Choice;
}

/** Keywords by which more members may be named than `properties` has. */
const OPENING = ['if', 'dependencies', 'dependentSchemas', 'unevaluatedProperties'];

/** Worked out once for each name that the schemas have. */
export function placesOf(schemas: Together, choiceOf: ChoiceOf): Places {
  const names = [
    ...new Set(schemas.flatMap(({ properties }) => (isJsonNode(properties) ? Object.keys(properties) : []))),
  ];
  const lookUp = (name: string): Choice | null =>
    choiceOrNone(
      schemas.flatMap((node) => memberSchemas(node, name)),
      choiceOf,
    );
  const named = new Map(names.map((name) => [name, lookUp(name)]));
  const hasPatterns = schemas.some(({ patternProperties }) => patternProperties !== undefined);
  const further = choiceOrNone(schemas.flatMap(additionalSchemas), choiceOf);
  const firstItems = Math.max(0, ...schemas.map((node) => itemsOneByOne(node).length));
  const itemAt = (index: number): Choice => choiceOf(schemas.map((node) => itemSchema(node, index)));
  const furtherItem = itemAt(firstItems);
  return {
    names,
    isClosed: closes(schemas),
    memberAt: (name) => named.get(name) ?? (hasPatterns ? lookUp(name) : further),
    itemAt: (index) => (index < firstItems ? itemAt(index) : furtherItem),
  };
}

function closes(schemas: Together): boolean {
  return (
    schemas.some((node) => isJsonNode(node['properties']) || node['additionalProperties'] === false) &&
    !schemas.some((node) => OPENING.some((keyword) => Object.hasOwn(node, keyword)))
  );
}

/** The schemas of a member; none where it is not named. */
function memberSchemas(node: JsonNode, name: string): readonly unknown[] {
  const { properties, patternProperties } = node;
  const named = isJsonNode(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [];
  const matched = Object.entries(isJsonNode(patternProperties) ? patternProperties : {})
    .filter(([pattern]) => matches(pattern, name))
    .map(([pattern, schema]) => (isTame(pattern) ? schema : true));
  const its = [...named, ...matched];
  return its.length > 0 ? its : additionalSchemas(node);
}

function additionalSchemas({ additionalProperties }: JsonNode): readonly unknown[] {
  return additionalProperties === undefined || additionalProperties === false ? [] : [additionalProperties];
}

function choiceOrNone(schemas: readonly unknown[], choiceOf: ChoiceOf): Choice | null {
  return schemas.length === 0 ? null : choiceOf(schemas);
}

const MAX_NAME_CHARS = 1_000;

/** Whether a pattern can take no long time: it may be a server's own. It repeats one thing at most, and no group. */
function isTame(pattern: string): boolean {
  const varying = pattern.replaceAll(/\{\d+\}/gu, '');
  return (varying.match(/[*+?{]/gu) ?? []).length <= 1 && !/\)[*+?{]/u.test(pattern) && !/\\[1-9k]/u.test(pattern);
}

/** What is no pattern, and what could take long, matches every name. */
function matches(pattern: string, name: string): boolean {
  if (!isTame(pattern) || name.length > MAX_NAME_CHARS) return true;
  try {
    return new RegExp(pattern, 'u').test(name);
  } catch {
    return true;
  }
}

function itemsOneByOne({ items, prefixItems }: JsonNode): readonly unknown[] {
  return Array.isArray(items) ? items : Array.isArray(prefixItems) ? prefixItems : [];
}

function itemSchema(node: JsonNode, index: number): unknown {
  const first = itemsOneByOne(node);
  if (index < first.length) return first[index];
  return (Array.isArray(node['items']) ? node['additionalItems'] : node['items']) ?? true;
}
