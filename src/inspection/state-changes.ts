/** One change of a JSON state at a path: list items are replaced, a member is removed, or a value is set. */
export type StateChange = { readonly path: readonly (string | number)[] } & (
  | { readonly at: number; readonly removed: number; readonly added: readonly unknown[] }
  | { readonly gone: true }
  | { readonly value: unknown }
);

type Path = StateChange['path'];
type Members = Readonly<Record<string, unknown>>;
type Equality = (one: unknown, other: unknown) => boolean;

/**
 * Returns the changes from one state to the next. Consecutive states share what did not change, so unchanged parts are not traversed:
 * the cost is proportional to the changes, plus one comparison per member of each changed array or object.
 */
export function changesBetween(
  before: unknown,
  after: unknown,
  path: Path = [],
  isSame: Equality = (one, other) => one === other,
): StateChange[] {
  if (isSame(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listChanges(before, after, path, isSame);
  if (isObject(before) && isObject(after)) return memberChanges(before, after, path, isSame);
  return [{ path, value: after }];
}

/** Shares what did not change with the given state. */
export function withChanges(state: unknown, changes: readonly StateChange[]): unknown {
  return changes.reduce((whole, change) => applyAt(whole, change.path, change), state);
}

function memberChanges(before: Members, after: Members, path: Path, isSame: Equality): StateChange[] {
  const changes: StateChange[] = [];
  for (const name of Object.keys(before))
    if (!Object.hasOwn(after, name)) changes.push({ path: [...path, name], gone: true });
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined) continue;
    if (Object.hasOwn(before, name)) changes.push(...changesBetween(before[name], value, [...path, name], isSame));
    else changes.push({ path: [...path, name], value });
  }
  return changes;
}

/**
 * Skips the common start and end. In between, compares items one by one if their number did not change. A list of the newest items is a
 * special case: it loses items at its start and gets others at its end.
 */
function listChanges(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  isSame: Equality,
): StateChange[] {
  const dropped = after.length === 0 ? -1 : before.findIndex((item) => isSame(item, after[0]));
  const kept = before.length - dropped;
  if (dropped > 0 && kept <= after.length && before.slice(dropped).every((item, at) => isSame(item, after[at])))
    return [
      { path, at: 0, removed: dropped, added: [] },
      ...(kept === after.length ? [] : [{ path, at: kept, removed: 0, added: after.slice(kept) }]),
    ];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end += 1;
  const removed = before.length - start - end;
  const added = after.slice(start, after.length - end);
  if (removed !== added.length) return [{ path, at: start, removed, added }];
  return added.flatMap((item, at) => changesBetween(before[start + at], item, [...path, start + at], isSame));
}

function applyAt(whole: unknown, [name, ...below]: Path, change: StateChange): unknown {
  if (name === undefined) return applyHere(whole, change);
  if (below.length === 0 && 'gone' in change) {
    const { [name]: _, ...others } = whole as Members;
    return others;
  }
  const inside = applyAt((whole as Members)[name as string], below, change);
  if (Array.isArray(whole)) return whole.with(name as number, inside);
  return { ...(whole as Members), [name]: inside };
}

function applyHere(whole: unknown, change: StateChange): unknown {
  if ('added' in change) return (whole as unknown[]).toSpliced(change.at, change.removed, ...change.added);
  return 'value' in change ? change.value : undefined;
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
