/** How many of these ascending numbers are at most `limit`. Logarithmic. */
export function countUpTo(numbers: readonly number[], limit: number): number {
  return binarySearch(numbers.length, (index) => (numbers[index] ?? 0) > limit);
}

/** The last of these ascending numbers that is at most `limit`; undefined if there is none. */
export function lastUpTo(numbers: readonly number[], limit: number): number | undefined {
  return numbers[countUpTo(numbers, limit) - 1];
}

/** The number of spans that started at or before an entry; the spans are in start order. */
export function countStartedBy(items: readonly { readonly from: number }[], seq: number): number {
  return firstIndexWhere(items, ({ from }) => from > seq);
}

/** The numbers in a range with both of its ends. */
export const numbersIn = (numbers: readonly number[], from: number, to: number): readonly number[] =>
  numbers.slice(countUpTo(numbers, from - 1), countUpTo(numbers, to));

/** The spans that start in a range of entries, with both of its ends. */
export const startedIn = <Item extends { readonly from: number }>(items: readonly Item[], from: number, to: number) =>
  items.slice(countStartedBy(items, from - 1), countStartedBy(items, to));

export function lastStartedBy<Item extends { readonly from: number }>(
  items: readonly Item[],
  seq: number,
): Item | undefined {
  return items[countStartedBy(items, seq) - 1];
}

/** The index of the first item for which a monotonic predicate holds; the length if it holds for none. */
export function firstIndexWhere<Item>(items: readonly Item[], predicate: (item: Item) => boolean): number {
  return binarySearch(items.length, (index) => predicate(items[index] as Item));
}

/** The first index in `0..size` for which a monotonic predicate holds; `size` if it holds for none. */
function binarySearch(size: number, predicate: (index: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (predicate(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
