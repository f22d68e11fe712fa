export const MAX_NAME_CHARS = 64;

/** The name of a schema or a tool as servers take it: letters, digits, `_` and `-`, at most 64. */
export function wireName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, MAX_NAME_CHARS) || 'reply';
}

/** The name, or, where it is taken, the name with the first number that is free behind it; no longer than servers take. */
export function freeName(name: string, taken: { has(name: string): boolean }): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) {
    const suffix = `_${count}`;
    free = `${name.slice(0, MAX_NAME_CHARS - suffix.length)}${suffix}`;
  }
  return free;
}
