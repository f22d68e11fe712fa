export const MAX_NAME_CHARS = 64;

/** Returns a name for a schema or a tool that model servers accept: letters, digits, `_` and `-`, at most 64 characters. */
export function wireName(name: string): string {
  return name.replaceAll(/[^\w-]/gu, '_').slice(0, MAX_NAME_CHARS) || 'reply';
}

/** Returns the name, or the name with the first free number as a suffix if it is taken; at most 64 characters. */
export function freeName(name: string, taken: { has(name: string): boolean }): string {
  let free = name;
  for (let count = 2; taken.has(free); count += 1) {
    const suffix = `_${count}`;
    free = `${name.slice(0, MAX_NAME_CHARS - suffix.length)}${suffix}`;
  }
  return free;
}
