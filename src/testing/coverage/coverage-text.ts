import type { MachineCoverage } from './coverage.ts';
import { inPercent, KINDS, percentOf, TITLES } from './kinds.ts';

/** A table, a line a machine, and below it what is missing. */
export function coverageText(machines: readonly MachineCoverage[]): string {
  const cells = [
    ['machine', ...KINDS.map((kind) => TITLES[kind]), 'all'],
    ...machines.map((one) => [one.machine, ...[...KINDS, undefined].map((kind) => inPercent(percentOf(one, kind)))]),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = cells.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const missing = machines.flatMap(({ machine, items }) => {
    const never = items.filter(({ times }) => times === 0);
    return never.length === 0
      ? []
      : ['', `${machine}, never:`, ...never.map(({ kind, name }) => `  ${kind.padEnd(10)}  ${name}`)];
  });
  return `${[...table, ...missing].join('\n')}\n`;
}
