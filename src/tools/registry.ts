import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { oneLine } from '../../machines/text/clip.ts';
import { nullRemover } from '../internal/json-schema.ts';
import { type JsonSchema, schemaFailure } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import { admitsText } from './admits-text.ts';
import { type Capability, describe, requireCapability } from './capability.ts';
import { listed, pathText, quoted } from './error-text.ts';
import { findUnknownKey } from './unknown-key.ts';

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
        const result = await schema['~standard'].validate(withoutNulls(args));
        if (result.issues) return { ok: false, problem: issueText(schema, result.issues) };
        if ('value' in result) return { ok: true, value: result.value };
        return { ok: false, problem: 'the arguments: the schema returned neither a value nor issues' };
      } catch (error) {
        return { ok: false, problem: oneLine(`the arguments: ${unexpectedFailure(error).message}`) };
      }
    },
    admitsText: (path) => admitsText(jsonSchema, path),
    unknownKeyIn(args) {
      const found = findUnknownKey(jsonSchema, args);
      if (found === null) return null;
      const where = pathText(found.path.slice(0, -1)) || 'the arguments';
      const key = quoted(String(found.path.at(-1)));
      return oneLine(`${where}: unknown key ${key}; expected one of: ${listed(found.known, MAX_KNOWN_KEYS)}`);
    },
  };
}

function issueText(schema: StandardSchemaV1, issues: readonly StandardSchemaV1.Issue[]): string {
  const [issue] = schemaFailure('arguments', schema['~standard'].vendor, issues).issues;
  return oneLine(
    `${oneLine(issue?.path ?? '', 200) || 'the arguments'}: ${issue?.message || 'do not match the schema'}`,
  );
}
