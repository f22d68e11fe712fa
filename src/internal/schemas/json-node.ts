/** A JSON Schema, or a part of one, that is an object. */
export type JsonNode = Readonly<Record<string, unknown>>;

export function isJsonNode(value: unknown): value is JsonNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
