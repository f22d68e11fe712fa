/** How many of these ascending numbers are at most `limit`. Logarithmic. */
export function countUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last of these ascending numbers that is at most `limit`; undefined where none is. */
export function lastUpTo(numbers: readonly number[], limit: number): number | undefined {
  return numbers[countUpTo(numbers, limit) - 1];
}

/** How many of these began at or before an entry: they are in the order in which they began. */
export function countBegunBy(items: readonly { readonly from: number }[], seq: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle]?.from ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last of these that began at or before an entry. */
export function lastBegunBy<Item extends { readonly from: number }>(
  items: readonly Item[],
  seq: number,
): Item | undefined {
  return items[countBegunBy(items, seq) - 1];
}
