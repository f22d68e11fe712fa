/** How many of these ascending numbers are at most `limit`. Logarithmic. */
export function countUpTo(numbers: readonly number[], limit: number): number {
  return firstPlace(numbers.length, (place) => (numbers[place] ?? 0) > limit);
}

/** The last of these ascending numbers that is at most `limit`; undefined if there is none. */
export function lastUpTo(numbers: readonly number[], limit: number): number | undefined {
  return numbers[countUpTo(numbers, limit) - 1];
}

/** How many of these began at or before an entry: they are in the order in which they began. */
export function countBegunBy(items: readonly { readonly from: number }[], seq: number): number {
  return firstWhere(items, ({ from }) => from > seq);
}

/** The last of these that began at or before an entry. */
export function lastBegunBy<Item extends { readonly from: number }>(
  items: readonly Item[],
  seq: number,
): Item | undefined {
  return items[countBegunBy(items, seq) - 1];
}

/** The index of the first item for which a monotonic predicate holds; the length if it holds for none. */
export function firstWhere<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  return firstPlace(items.length, (place) => holds(items[place] as Item));
}

/** The same for places from 0 up to, but without, `size`. */
export function firstPlace(size: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
