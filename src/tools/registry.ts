import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { isJsonNode, type JsonNode, nullRemover, onlyAlternative, referredTo } from '../internal/json-schema.ts';
import { type JsonSchema, schemaFailure } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import { type Capability, describe, requireCapability } from './capability.ts';
import { listed, pathText, quoted } from './error-text.ts';

/** A key that a schema does not name, and the keys that it names there. */
interface UnknownKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** Keywords that may admit keys that `properties` does not name. */
const OPENING = [
  '$ref',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'unevaluatedProperties',
];

/**
 * Finds a key, at any depth, that a JSON Schema does not name. Most schema libraries silently drop such a key, and with it what the
 * model meant. Where several alternatives, a condition or `allOf` may admit a key, the schema itself decides.
 */
function findUnknownKey(root: JsonSchema, value: unknown): UnknownKey | null {
  const search = (schema: unknown, given: unknown, path: UnknownKey['path']): UnknownKey | null => {
    const node = resolved(schema, root);
    if (node === null) return null;
    if (Array.isArray(given)) {
      const items = node['prefixItems'] === undefined ? node['items'] : undefined;
      return firstFound(given.entries(), (at, item) => search(items, item, [...path, at]));
    }
    if (!isJsonNode(given)) return null;
    const known = isJsonNode(node['properties']) ? node['properties'] : {};
    const others = node['additionalProperties'];
    const isClosed =
      (others === false || (others === undefined && node['properties'] !== undefined)) &&
      !OPENING.some((keyword) => Object.hasOwn(node, keyword));
    return firstFound(Object.entries(given), (key, member) => {
      if (Object.hasOwn(known, key)) return search(known[key], member, [...path, key]);
      return isClosed ? { path: [...path, key], known: Object.keys(known) } : search(others, member, [...path, key]);
    });
  };
  return search(root, value, []);
}

function firstFound<Key>(
  entries: Iterable<readonly [Key, unknown]>,
  search: (key: Key, member: unknown) => UnknownKey | null,
): UnknownKey | null {
  for (const [key, member] of entries) {
    const found = search(key, member);
    if (found !== null) return found;
  }
  return null;
}

/** Resolves a choice between null and one schema, then a reference, alone or in `allOf`; null for a choice between several. */
function resolved(schema: unknown, root: JsonSchema): JsonNode | null {
  if (!isJsonNode(schema) || schema['properties'] !== undefined) return isJsonNode(schema) ? schema : null;
  const only = onlyAlternative(schema);
  const { allOf } = isJsonNode(only) ? only : {};
  const node: unknown = Array.isArray(allOf) && allOf.length === 1 ? allOf[0] : only;
  const { $ref } = isJsonNode(node) ? node : {};
  const target = typeof $ref === 'string' ? referredTo(root, $ref) : node;
  return isJsonNode(target) ? target : null;
}

type Path = readonly (string | number)[];

/** A schema of a server may refer to itself in many places. */
const MAX_NODES = 1_000;

/** Whether a JSON Schema may accept text at a path; true if the schema does not say. */
function admitsText(root: JsonSchema, wholePath: Path): boolean {
  let nodes = 0;
  const admits = (node: unknown, path: Path): boolean => {
    if (!isJsonNode(node)) return node !== false;
    nodes += 1;
    if (nodes > MAX_NODES) return false;
    const { $ref, anyOf, oneOf, allOf } = node;
    const some = anyOf ?? oneOf;
    if (typeof $ref === 'string' && !admits(referredTo(root, $ref), path)) return false;
    if (Array.isArray(some) && !some.some((one) => admits(one, path))) return false;
    if (Array.isArray(allOf) && !allOf.every((one) => admits(one, path))) return false;
    const [key, ...rest] = path;
    if (key === undefined) return admitsTextItself(node);
    return admits(typeof key === 'number' ? itemSchema(node, key) : memberSchema(node, key), rest);
  };
  return admits(root, wholePath);
}

function admitsTextItself({ type, const: only, enum: values }: JsonNode): boolean {
  if (only !== undefined || Array.isArray(values)) return [values, only].flat().some((one) => typeof one === 'string');
  return type === undefined || [type].flat().includes('string');
}

function itemSchema({ prefixItems, items, additionalItems }: JsonNode, at: number): unknown {
  const prefix = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  if (at < prefix.length) return prefix[at];
  return Array.isArray(items) ? additionalItems : items;
}

function memberSchema({ properties, additionalProperties, patternProperties }: JsonNode, key: string): unknown {
  if (isJsonNode(properties) && Object.hasOwn(properties, key)) return properties[key];
  return patternProperties === undefined ? additionalProperties : true;
}

export interface CapabilityRegistry {
  readonly descriptors: readonly CapabilityDescriptor[];
  get(name: string): Capability | undefined;
  validatorOf(name: string): ArgumentValidator | undefined;
}

/**
 * Returns the capabilities of a run by name. Descriptors are sorted by name: prompts then begin alike in whatever order capabilities are
 * registered or listed by their servers, so that providers cache them.
 *
 * @throws PostChainError `duplicate_capability` if two have the same name, or names that are the same on the wire; `invalid_option`
 * or `invalid_schema` for an invalid capability.
 */
export function createRegistry(capabilities: readonly Capability[]): CapabilityRegistry {
  const byWireName = new Map<string, string>();
  const entries = new Map<string, { readonly capability: Capability; readonly validator: ArgumentValidator }>();
  const descriptors = capabilities.map((capability) => {
    requireCapability(capability);
    const { name } = capability;
    const taken = byWireName.get(wireName(name));
    if (taken !== undefined) throw duplicate(name, taken);
    const descriptor = describe(capability);
    byWireName.set(wireName(name), name);
    entries.set(name, { capability, validator: argumentValidator(capability.arguments, descriptor.arguments) });
    return descriptor;
  });
  return {
    descriptors: descriptors.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    get: (name) => entries.get(name)?.capability,
    validatorOf: (name) => entries.get(name)?.validator,
  };
}

function duplicate(name: string, taken: string): PostChainError {
  const what =
    name === taken
      ? `Two capabilities are named "${name}"`
      : `The capabilities "${taken}" and "${name}" are both sent to servers as "${wireName(name)}"`;
  return new PostChainError('duplicate_capability', `${what}; names must be unique: rename one.`);
}

type Validated = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

export interface ArgumentValidator {
  /** Resolves to the schema's output, or to what is wrong, in one line. Never rejects. */
  validate(args: Record<string, unknown>): Promise<Validated>;
  /** Whether the schema may accept text at a path. */
  admitsText(path: readonly (string | number)[]): boolean;
  /** Returns an error for a key that the schema does not name, in one line, or null. */
  unknownKeyIn(args: Record<string, unknown>): string | null;
}

const MAX_KNOWN_KEYS = 10;

function argumentValidator(schema: StandardSchemaV1, jsonSchema: JsonSchema): ArgumentValidator {
  // Many models write null for an optional argument that they leave out.
  const withoutNulls = nullRemover(jsonSchema) ?? ((args: unknown) => args);
  return {
    async validate(args) {
      try {
        // Many schemas return what they validate, and user code may change it: the journal keeps its own.
        const result = await schema['~standard'].validate(withoutNulls(structuredClone(args)));
        if (result.issues) return { ok: false, problem: issueText(schema, result.issues) };
        if ('value' in result) return { ok: true, value: result.value };
        return { ok: false, problem: 'the arguments: the schema returned neither a value nor issues' };
      } catch (error) {
        return { ok: false, problem: clippedLine(`the arguments: ${unexpectedFailure(error).message}`) };
      }
    },
    admitsText: (path) => admitsText(jsonSchema, path),
    unknownKeyIn(args) {
      const found = findUnknownKey(jsonSchema, args);
      if (found === null) return null;
      const where = pathText(found.path.slice(0, -1)) || 'the arguments';
      const key = quoted(String(found.path.at(-1)));
      return clippedLine(`${where}: unknown key ${key}; expected one of: ${listed(found.known, MAX_KNOWN_KEYS)}`);
    },
  };
}

function issueText(schema: StandardSchemaV1, issues: readonly StandardSchemaV1.Issue[]): string {
  const [issue] = schemaFailure('arguments', schema['~standard'].vendor, issues).issues;
  return clippedLine(
    `${clippedLine(issue?.path ?? '', 200) || 'the arguments'}: ${issue?.message || 'do not match the schema'}`,
  );
}
