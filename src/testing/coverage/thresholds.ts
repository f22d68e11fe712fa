import type { MachineCoverage } from './coverage.ts';
import { type CoverageTitle, inPercent, KINDS, percentOf, TITLES } from './kinds.ts';

/** Per cent that each machine must reach: of all its parts, or of those of a kind. */
export type Thresholds = Readonly<Partial<Record<CoverageTitle | 'all', number>>>;

/** What machines fall short of, a line each: `door: 50.0 % of guards, wanted 80 %`. */
export function missedThresholds(machines: readonly MachineCoverage[], thresholds: Thresholds): readonly string[] {
  return machines.flatMap((one) =>
    Object.entries(thresholds).flatMap(([title, wanted]) => {
      const percent = percentOf(
        one,
        KINDS.find((kind) => TITLES[kind] === title),
      );
      return percent >= wanted ? [] : [`${one.machine}: ${inPercent(percent)} of ${title}, wanted ${wanted} %`];
    }),
  );
}
