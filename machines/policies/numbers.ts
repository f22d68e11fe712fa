/** A number to tell in words: three decimals, cut and never rounded up, so that "0.299 is below 0.3" is always true. */
export const floored = (value: number): number => Math.floor(value * 1000) / 1000;
