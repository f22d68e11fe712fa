export type Members = Readonly<Record<string, unknown>>;

/** The value where it is an object of JSON, else an empty one. */
export function membersOf(value: unknown): Members {
  return isMembers(value) ? value : {};
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As XState reads a list that may be one thing, or nothing. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}
