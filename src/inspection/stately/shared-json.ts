import { isMembers } from './json-members.ts';

/**
 * The second value with whatever of it is the same in the first taken from there: what came as text twice is shared then, as the states of
 * a program are, and its changes can be told by identity.
 */
export function sharedJson(before: unknown, after: unknown): unknown {
  if (sameJson(before, after)) return before;
  if (Array.isArray(before) && Array.isArray(after)) return sharedList(before, after);
  if (!isMembers(before) || !isMembers(after)) return after;
  const members = Object.entries(after).map(([name, value]) => [
    name,
    Object.hasOwn(before, name) ? sharedJson(before[name], value) : value,
  ]);
  return Object.fromEntries(members);
}

/** Items are compared from both ends, so that lists may grow and shrink at either; what is between is taken by its place. */
function sharedList(before: readonly unknown[], after: readonly unknown[]): unknown[] {
  const least = Math.min(before.length, after.length);
  let start = 0;
  while (start < least && sameJson(before[start], after[start])) start += 1;
  let end = 0;
  while (end < least - start && sameJson(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const shift = before.length - after.length;
  return after.map((item, index) => {
    if (index < start) return before[index];
    if (index >= after.length - end) return before[index + shift];
    return sharedJson(before[index], item);
  });
}

function sameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  if (!isMembers(one) || !isMembers(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameJson(one[name], other[name]))
  );
}
