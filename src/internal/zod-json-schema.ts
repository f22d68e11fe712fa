import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type JsonSchema, jsonSchemaOf } from './standard-schema.ts';

/**
 * Returns the input type of a zod schema as JSON Schema, draft 7. A schema of `zod` converts itself. One of `zod/mini` cannot, and zod's
 * converter for it would be a twentieth of what a page loads for the chain, so the usual types are converted here.
 *
 * @throws PostChainError `invalid_schema` for any other type.
 */
export function zodJsonSchema(schema: z.core.$ZodType): JsonSchema {
  return itself(schema) ?? converted(schema, 'default');
}

/** Returns null for a schema of `zod/mini`, and for one of `zod` with a part of `zod/mini`. */
function itself(schema: z.core.$ZodType): JsonSchema | null {
  if (!('jsonSchema' in schema['~standard'])) return null;
  try {
    return jsonSchemaOf(schema);
  } catch {
    return null;
  }
}

/** Returns the schema of an object that has every field, also those with a default. */
export const wholeJsonSchema = (schema: z.core.$ZodType): JsonSchema => converted(schema, 'required');

type Defaulted = 'default' | 'required';

function converted(schema: z.core.$ZodType, defaulted: Defaulted): JsonSchema {
  const { def, toJSONSchema } = (schema as z.core.$ZodTypes)._zod;
  const { description } = z.globalRegistry.get(schema) ?? {};
  const described = description === undefined ? {} : { description };
  if (toJSONSchema) return toJSONSchema() as JsonSchema;
  const inside = (inner: z.core.$ZodType): JsonSchema => itself(inner) ?? converted(inner, defaulted);
  const rangeOf = (): JsonSchema => Object.assign({}, ...(def.checks ?? []).map(({ _zod }) => ruleOf(_zod.def)));
  switch (def.type) {
    case 'string':
      return { type: 'string', ...rangeOf(), ...described };
    case 'number':
      return { type: 'check' in def ? 'integer' : 'number', ...rangeOf(), ...described };
    case 'boolean':
      return { type: 'boolean', ...described };
    case 'enum':
      return { type: 'string', enum: Object.values(def.entries), ...described };
    case 'literal':
      return { ...(def.values.length === 1 ? { const: def.values[0] } : { enum: def.values }), ...described };
    case 'unknown':
    case 'any':
      return described;
    case 'union':
      return { anyOf: def.options.map(inside), ...described };
    case 'pipe':
      return { ...described, ...inside(def.in) };
    case 'array':
      return { type: 'array', items: inside(def.element), ...described };
    case 'object':
      return { type: 'object', ...membersOf(def.shape, defaulted), ...described };
    case 'nullable':
      return { ...described, ...orNull(inside(def.innerType)) };
    case 'readonly':
      return { readOnly: true, ...described, ...inside(def.innerType) };
    case 'optional':
      return { ...described, ...inside(def.innerType) };
    case 'default':
      return {
        ...(defaulted === 'default' && { default: def.defaultValue }),
        ...described,
        ...inside(def.innerType),
      };
    default:
      throw new PostChainError(
        'invalid_schema',
        `schema: the type "${def.type}" cannot be converted to JSON Schema; use JSON types, and zod instead of zod/mini.`,
      );
  }
}

type Check = Partial<z.core.$ZodCheckGreaterThanDef & z.core.$ZodCheckMinLengthDef & z.core.$ZodCheckMaxLengthDef>;

/** The keyword of a check; other checks have none, because the value is validated anyway. */
function ruleOf(def: z.core.$ZodCheckDef): JsonSchema {
  const { value, inclusive, minimum, maximum } = def as Check;
  const rules: Readonly<Record<string, JsonSchema>> = {
    min_length: { minLength: minimum },
    max_length: { maxLength: maximum },
    greater_than: inclusive ? { minimum: value } : { exclusiveMinimum: value },
    less_than: inclusive ? { maximum: value } : { exclusiveMaximum: value },
  };
  return rules[def.check] ?? {};
}

function membersOf(shape: z.core.$ZodShape, defaulted: Defaulted): JsonSchema {
  const members = Object.entries(shape);
  const isRequired = (type: string): boolean => type !== 'optional' && (type !== 'default' || defaulted === 'required');
  const required = members.flatMap(([name, member]) => (isRequired(member._zod.def.type) ? [name] : []));
  return {
    properties: Object.fromEntries(
      members.map(([name, member]) => [name, itself(member) ?? converted(member, defaulted)]),
    ),
    ...(required.length > 0 && { required }),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, ...others } = schema;
  return typeof type === 'string' && Object.keys(others).length === 0
    ? { type: [type, 'null'] }
    : { anyOf: [schema, { type: 'null' }] };
}
