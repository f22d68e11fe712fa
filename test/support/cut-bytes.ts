/** Bytes cut into pieces of the sizes that `sizeOf` gives, one after the other. */
export function cutBytes(bytes: Uint8Array, sizeOf: () => number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + sizeOf());
    pieces.push(piece);
    at += piece.length;
  }
  return pieces;
}

/** Sizes from 1 to `most` that look random and are the same for the same seed. */
export function seededSizes(seed: number, most: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return 1 + Math.floor((state / 2 ** 32) * most);
  };
}
