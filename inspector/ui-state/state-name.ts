/** A state as it is told in a line: its name, and that of the state around it where that helps: `yield.deciding`. */
export function stateName(id: string): string {
  return id
    .split('.')
    .slice(-2)
    .join('.')
    .replace(/^(?:postChain|attempt|actionLoop|cycling)\./u, '');
}
