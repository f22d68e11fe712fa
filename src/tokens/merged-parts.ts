/** The rank of the token from one byte to another, if there is such a token. */
export type RankOf = (start: number, end: number) => number | undefined;

/**
 * How many tokens are left of a number of bytes when, again and again, the two neighbours are merged that make the token of lowest rank,
 * the first of equal ones (byte-pair encoding, Sennrich, Haddow and Birch 2016).
 */
export function mergedParts(bytes: number, rankOf: RankOf): number {
  const starts: number[] = [];
  const ranks: number[] = [];
  const rankAt = (at: number): number => {
    const end = starts[at + 2];
    return end === undefined ? NONE : (rankOf(starts[at] ?? 0, end) ?? NONE);
  };
  for (let at = 0; at <= bytes; at += 1) starts.push(at);
  for (let at = 0; at <= bytes; at += 1) ranks.push(rankAt(at));
  for (let at = lowest(ranks); ranks[at] !== NONE; at = lowest(ranks)) {
    starts.splice(at + 1, 1);
    ranks.splice(at + 1, 1);
    ranks[at] = rankAt(at);
    if (at > 0) ranks[at - 1] = rankAt(at - 1);
  }
  return starts.length - 1;
}

/** Of two neighbours that make no token. */
const NONE = Number.POSITIVE_INFINITY;

function lowest(ranks: readonly number[]): number {
  let place = 0;
  let least = NONE;
  for (let at = 0; at < ranks.length; at += 1) {
    const rank = ranks[at] ?? NONE;
    if (rank >= least) continue;
    least = rank;
    place = at;
  }
  return place;
}
