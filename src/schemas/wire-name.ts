export const MAX_NAME_CHARS = 64;

/** The name of a schema or a tool as servers take it: letters, digits, `_` and `-`, at most 64. */
export function wireName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, MAX_NAME_CHARS) || 'reply';
}
