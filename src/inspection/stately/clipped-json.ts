/** What `safe-stable-stringify`, by which the package writes its messages, puts in the place of what it leaves out. */
const MARKERS: ReadonlySet<unknown> = new Set(['[Object]', '[Array]', '[Circular]', '[...]']);

export interface ClippedJson {
  readonly value: unknown;
  /** Something of it was left out, by the sender or here. */
  readonly truncated: boolean;
}

/**
 * JSON from elsewhere, nested no deeper than `maxDepth`, so that whatever walks it has an end; deeper parts become the sender's own
 * markers. Members named `__proto__` are left out.
 */
export function clippedJson(whole: unknown, maxDepth = 100): ClippedJson {
  let truncated = false;
  const clipped = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) {
      if (MARKERS.has(value)) truncated = true;
      return value;
    }
    if (depth === 0) {
      truncated = true;
      return Array.isArray(value) ? '[Array]' : '[Object]';
    }
    if (Array.isArray(value)) return value.map((item) => clipped(item, depth - 1));
    const members = Object.entries(value).filter(([name]) => name !== '__proto__');
    return Object.fromEntries(members.map(([name, member]) => [name, clipped(member, depth - 1)]));
  };
  return { value: clipped(whole, maxDepth), truncated };
}
