import type { EventForm } from '../../src/inspection/wire.ts';

/** A field of a form for an event. Values other than texts, numbers, choices and booleans are entered as JSON. */
export interface EventField {
  /** The names of the members that lead to the value; empty for the event without its type. */
  readonly path: readonly string[];
  readonly kind: 'text' | 'number' | 'boolean' | 'choice' | 'json';
  readonly isRequired: boolean;
  /** Its limits, and what the schema says about it. */
  readonly description: string;
  readonly choices: readonly unknown[];
  readonly initial: string;
}

const MAX_FIELDS = 24;
const MAX_DEPTH = 3;

/** Returns the fields of a form for the members of an event. Null if its schema allows other members, or does not describe an object. */
export function eventFields(schema: EventForm): readonly EventField[] | null {
  const fields = fieldsOf(schema, [], true);
  return fields.length <= MAX_FIELDS && fields.every(({ path }) => path.length > 0) ? fields : null;
}

function fieldsOf(given: unknown, path: readonly string[], isRequired: boolean): readonly EventField[] {
  const schema: EventForm = Object(given);
  const members = membersOf(schema);
  if (members !== null && path.length < MAX_DEPTH && isRequired) {
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
    return members.flatMap(([name, member]) => fieldsOf(member, [...path, name], required.includes(name)));
  }
  const kind = kindOf(schema);
  const { description, default: initial } = schema as { readonly description?: unknown; readonly default?: unknown };
  const choices = kind === 'choice' ? choicesOf(schema) : [];
  return [
    {
      path,
      kind,
      isRequired,
      description: [rangeText(schema), typeof description === 'string' ? description : ''].filter(Boolean).join(', '),
      choices,
      initial: initial === undefined ? '' : initialText(initial, kind, choices),
    },
  ];
}

function initialText(value: unknown, kind: EventField['kind'], choices: readonly unknown[]): string {
  if (kind === 'text' && typeof value === 'string') return value;
  if (kind !== 'choice') return JSON.stringify(value);
  const index = choices.indexOf(value);
  return index < 0 ? '' : String(index);
}

/** `more than 0, at most 1000`; `at least 3 characters`. Without the limits that only keep an integer exact. */
function rangeText(schema: EventForm): string {
  const limits = Object.entries(LIMITS).flatMap(([name, [before, after]]) => {
    const limit = schema[name];
    return typeof limit === 'number' && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? `${before} ${limit}${after}` : [];
  });
  return limits.join(', ');
}

const LIMITS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  exclusiveMinimum: ['more than', ''],
  minimum: ['at least', ''],
  exclusiveMaximum: ['less than', ''],
  maximum: ['at most', ''],
  minLength: ['at least', ' characters'],
  maxLength: ['at most', ' characters'],
};

/** The members of an object that has only these; null otherwise. */
function membersOf({ type, properties, additionalProperties = false }: EventForm) {
  const isClosed = type === 'object' && additionalProperties === false;
  return isClosed && typeof properties === 'object' && properties !== null ? Object.entries(properties) : null;
}

const choicesOf = (schema: EventForm): readonly unknown[] =>
  'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? schema['enum'] : [];

function kindOf(schema: EventForm): EventField['kind'] {
  if (choicesOf(schema).length > 0) return 'choice';
  const { type } = schema;
  if (type === 'string') return 'text';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

/** A text that a person has typed for each field, by `fieldKey`. A boolean is `true` or empty; a choice is the index of its value. */
export type FieldTexts = Readonly<Record<string, string>>;

export const fieldKey = ({ path }: Pick<EventField, 'path'>): string => JSON.stringify(path);

/** Returns the event that a person has entered, or the problem with a field. Empty optional fields are omitted. */
export function eventOf(
  type: string,
  fields: readonly EventField[],
  texts: FieldTexts,
): { readonly event: { readonly type: string } } | { readonly problem: string; readonly field: EventField } {
  const members: Record<string, unknown> = {};
  for (const field of fields) {
    const text = texts[fieldKey(field)] ?? field.initial;
    const isLeftOut = text === '' && !(field.isRequired && (field.kind === 'text' || field.kind === 'boolean'));
    if (isLeftOut && field.isRequired) return { field, problem: EXPECTED[field.kind === 'choice' ? 'choice' : 'text'] };
    if (isLeftOut) continue;
    const value = readText(field, text);
    if (value === undefined) return { field, problem: EXPECTED[field.kind] };
    put(members, field.path, value);
  }
  return { event: { ...members, type } };
}

const EXPECTED: Readonly<Record<EventField['kind'], string>> = {
  text: 'Enter a value.',
  number: 'Enter a number.',
  boolean: 'Choose a value.',
  choice: 'Choose a value.',
  json: 'Enter JSON.',
};

/** Returns undefined for an invalid text. */
function readText({ kind, choices }: EventField, text: string): unknown {
  if (kind === 'text') return text;
  if (kind === 'boolean') return text === 'true';
  if (kind === 'choice') return choices[Number(text)];
  if (kind === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function put(members: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  const inner = rest.length === 0 ? value : Object.hasOwn(members, name) ? members[name] : {};
  if (rest.length > 0) put(inner as Record<string, unknown>, rest, value);
  Object.defineProperty(members, name, { value: inner, enumerable: true, configurable: true, writable: true });
}

/** Whether a list of event types, which may be wildcards such as `*` and `seat.*`, includes the type of an event. */
export const acceptsEvent = (accepted: readonly string[], type: string): boolean =>
  accepted.some(
    (one) => one === type || one === '*' || (one.endsWith('.*') && `${type}.`.startsWith(one.slice(0, -1))),
  );
