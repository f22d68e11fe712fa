import type { MachineCoverage } from './coverage.ts';

/** Of several collections, one a machine, in the order in which they first come; times are added up. */
export function mergedCoverage(all: readonly MachineCoverage[]): readonly MachineCoverage[] {
  const merged = new Map<string, MachineCoverage>();
  for (const one of all) {
    const there = merged.get(one.machine);
    merged.set(one.machine, there === undefined ? one : together(there, one));
  }
  return [...merged.values()];
}

function together(left: MachineCoverage, right: MachineCoverage): MachineCoverage {
  const times = new Map(left.items.map((item) => [item.key, item.times]));
  return { ...right, items: right.items.map((item) => ({ ...item, times: item.times + (times.get(item.key) ?? 0) })) };
}
