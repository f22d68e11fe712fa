/** A JSON Schema for another place, `/items` say: its references to its own root point to where that is now. */
export function movedTo(place: string, node: unknown): unknown {
  if (Array.isArray(node)) return node.map((one) => movedTo(place, one));
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => [
      keyword,
      keyword === '$ref' && typeof value === 'string' && /^#(\/|$)/u.test(value)
        ? `#${place}${value.slice(1)}`
        : movedTo(place, value),
    ]),
  );
}
