/** What random tests are drawn from: always the same, or the one of `POSTCHAIN_SEED`. */
export const SEED = Number(process.env['POSTCHAIN_SEED'] ?? 72_026);

/** Draws that are the same for the same seed: mulberry32. */
export interface Random {
  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number;
  chance(share: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** One of these, each as often as its weight says. */
  weighted<T>(from: readonly (readonly [weight: number, one: T])[]): T;
}

export function createRandom(seed: number): Random {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    int,
    chance: (share) => next() < share,
    pick: (from) => from[int(0, from.length - 1)] as never,
    weighted(from) {
      let left = next() * from.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, one] of from) {
        left -= weight;
        if (left < 0) return one;
      }
      return from.at(-1)?.[1] as never;
    },
  };
}
