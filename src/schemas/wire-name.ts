/** The name of a schema as servers take it: letters, digits, `_` and `-`, at most 64. */
export function wireName(schemaName: string): string {
  return schemaName.replaceAll(/[^\w-]/gu, '_').slice(0, 64) || 'reply';
}
