import type { GuardResult } from '../contracts/decision.ts';

/** Scores are compared to nine decimals: a smaller difference is a rounding error of floating-point arithmetic. */
const DECIMALS = 9;
const FEWEST_DECIMALS = 3;

/** Returns a score without the rounding error of the arithmetic behind it: 1 - 0.9 becomes 0.1. */
export function exact(score: number): number {
  return roundTo(score, DECIMALS);
}

/** Whether a score is above a threshold; an equal one is not. */
export const isAbove = (score: number, threshold: number): boolean => exact(score) > exact(threshold);

/** Whether a score is below a threshold; an equal one is not. */
export const isBelow = (score: number, threshold: number): boolean => exact(score) < exact(threshold);

/**
 * Describes compared values in words. Numbers have three decimals, or enough to tell the compared numbers apart, so a
 * text never says that 0.1 is below 0.1.
 */
export function describeInputs(inputs: GuardResult['inputs']): string {
  const decimals = decimalsFor(Object.values(inputs).filter((value) => typeof value === 'number'));
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? roundTo(value, decimals) : value}`)
    .join(', ');
}

/** Returns the fewest decimals, from three to nine, at which numbers that differ look different. */
function decimalsFor(numbers: readonly number[]): number {
  const distinctAt = (decimals: number): number => new Set(numbers.map((value) => roundTo(value, decimals))).size;
  let decimals = FEWEST_DECIMALS;
  while (decimals < DECIMALS && distinctAt(decimals) < distinctAt(DECIMALS)) decimals += 1;
  return decimals;
}

const roundTo = (value: number, decimals: number): number =>
  Number.isInteger(value) ? value : Number(value.toFixed(decimals));
