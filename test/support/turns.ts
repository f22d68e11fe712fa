/** Returns how many turns of the event loop pass while something runs. `onTurn` receives the number of each. */
export async function turnsDuring(
  work: () => Promise<unknown>,
  onTurn: (turn: number) => void = () => {},
): Promise<number> {
  let turns = 0;
  let timer = setImmediate(function count() {
    turns += 1;
    onTurn(turns);
    timer = setImmediate(count);
  });
  await work().finally(() => clearImmediate(timer));
  return turns;
}
