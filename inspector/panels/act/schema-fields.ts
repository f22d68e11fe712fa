type Schema = Readonly<Record<string, unknown>>;

/** What a form asks for at one place: as much of JSON Schema as events are made of. What is none of it is asked for as JSON. */
export type Field =
  | { readonly kind: 'fixed'; readonly value: unknown }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'text'; readonly minLength: number }
  | {
      readonly kind: 'number';
      readonly isWhole: boolean;
      readonly least: number | null;
      readonly most: number | null;
      readonly above: number | null;
    }
  | { readonly kind: 'flag' }
  | { readonly kind: 'members'; readonly members: readonly Member[] }
  | { readonly kind: 'record'; readonly value: Field }
  | { readonly kind: 'json' };

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly field: Field;
}

const JSON_FIELD: Field = { kind: 'json' };

/** Reads a JSON Schema, and never fails. */
export function fieldOf(schema: unknown): Field {
  if (!isSchema(schema)) return JSON_FIELD;
  if ('const' in schema) return { kind: 'fixed', value: schema['const'] };
  const options = schema['enum'];
  if (Array.isArray(options))
    return options.every((option) => typeof option === 'string') ? { kind: 'choice', options } : JSON_FIELD;
  switch (schema['type']) {
    case 'string':
      return { kind: 'text', minLength: numberIn(schema, 'minLength') ?? 0 };
    case 'number':
    case 'integer':
      return {
        kind: 'number',
        isWhole: schema['type'] === 'integer',
        least: numberIn(schema, 'minimum'),
        most: numberIn(schema, 'maximum'),
        above: numberIn(schema, 'exclusiveMinimum'),
      };
    case 'boolean':
      return { kind: 'flag' };
    case 'object':
      return objectOf(schema);
    default:
      return JSON_FIELD;
  }
}

/** Members by their names; or any of a few names, or of all names, with values that are alike. */
function objectOf(schema: Schema): Field {
  const { properties, additionalProperties: rest, propertyNames, required } = schema;
  if (isSchema(properties)) {
    const wanted: readonly unknown[] = Array.isArray(required) ? required : [];
    const members = Object.entries(properties).map(([name, member]) => memberOf(name, member, wanted.includes(name)));
    return { kind: 'members', members };
  }
  if (!isSchema(rest)) return JSON_FIELD;
  const names = isSchema(propertyNames) ? propertyNames['enum'] : undefined;
  if (!Array.isArray(names)) return { kind: 'record', value: fieldOf(rest) };
  return { kind: 'members', members: names.map((name) => memberOf(String(name), rest, false)) };
}

function memberOf(name: string, schema: unknown, isRequired: boolean): Member {
  const description = isSchema(schema) ? schema['description'] : undefined;
  return { name, isRequired, description: typeof description === 'string' ? description : '', field: fieldOf(schema) };
}

/** Bounds that every whole number of JavaScript has say nothing. */
function numberIn(schema: Schema, name: string): number | null {
  const value = schema[name];
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : null;
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
