/** Returns the number of characters to insert, delete or replace (Levenshtein 1966), or more than `most` if it is more. */
export function editDistance(from: string, to: string, most: number): number {
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const distance = Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(distance);
      least = Math.min(least, distance);
    }
    if (least > most) return least;
    above = current;
  }
  return above[to.length] ?? 0;
}
