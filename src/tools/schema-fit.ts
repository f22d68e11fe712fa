import type { JsonNode } from '../internal/schemas/json-node.ts';

/** Whether a value is of the kind that a schema is about, without a look into it: its type, and the values it may have. */
export function fitsPlainly({ type, const: only, enum: values }: JsonNode, value: unknown): boolean {
  if (typeof type === 'string' && !isOfType(value, type)) return false;
  if (Array.isArray(type) && !type.some((one) => isOfType(value, one))) return false;
  if (only !== undefined && !isEqual(only, value)) return false;
  return !Array.isArray(values) || values.some((one) => isEqual(one, value));
}

/** Whether a value has the members that a schema wants. */
export function hasRequired({ required }: JsonNode, value: JsonNode): boolean {
  return !Array.isArray(required) || required.every((key) => Object.hasOwn(value, key));
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Of lists and objects it is not asked whether they are equal. */
function isEqual(wanted: unknown, value: unknown): boolean {
  return wanted === value || (typeof wanted === 'object' && wanted !== null);
}
