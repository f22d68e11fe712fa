import { PostChainError } from '../../../machines/contracts/error.ts';
import type { MachineCoverage } from './coverage.ts';
import { type CoverageTitle, inPercent, KINDS, percentOf, TITLES } from './kinds.ts';

/** Per cent that each machine must reach: of all its parts, or of those of a kind. */
export type Thresholds = Readonly<Partial<Record<CoverageTitle | 'all', number>>>;

/** Throws `invalid_option` where a threshold is of no kind, or no percentage. */
export function requirePercentages(thresholds: Thresholds): void {
  const known = [...Object.values(TITLES), 'all'];
  for (const [title, wanted] of Object.entries(thresholds) as readonly (readonly [string, unknown])[]) {
    if (!known.includes(title))
      throw new PostChainError('invalid_option', `thresholds: got "${title}"; wanted any of ${known.join(', ')}.`);
    if (wanted !== undefined && !(typeof wanted === 'number' && wanted >= 0 && wanted <= 100))
      throw new PostChainError('invalid_option', `thresholds.${title}: got ${wanted}; wanted per cent, 0 to 100.`);
  }
}

/**
 * What machines fall short of, a line each: `door: 50.0 % of guards, wanted 80 %`. Throws `invalid_option` where a threshold is of no kind, or
 * no percentage.
 */
export function missedThresholds(machines: readonly MachineCoverage[], thresholds: Thresholds): readonly string[] {
  requirePercentages(thresholds);
  return machines.flatMap((one) =>
    Object.entries(thresholds).flatMap(([title, wanted]) => {
      const percent = percentOf(
        one,
        KINDS.find((kind) => TITLES[kind] === title),
      );
      return wanted === undefined || percent >= wanted
        ? []
        : [`${one.machine}: ${inPercent(percent)} of ${title}, wanted ${wanted} %`];
    }),
  );
}
