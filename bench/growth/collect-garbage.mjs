/** Runs a full collection, so that only referenced objects remain. The lanes run with --expose-gc. */
export function collectGarbage() {
  const collect = /** @type {{ gc?: () => void }} */ (globalThis).gc;
  if (collect === undefined) throw new Error('garbage collection is not exposed; run node with --expose-gc');
  collect();
  collect();
}
