import type { CoverageItem } from '../anatomy/items.ts';
import type { MachineCoverage } from './coverage.ts';

/** In the order in which they are told. */
export const KINDS = [
  'state',
  'transition',
  'guard',
  'outcome',
  'delay',
] as const satisfies readonly CoverageItem['kind'][];
export const TITLES = {
  state: 'states',
  transition: 'transitions',
  guard: 'guards',
  outcome: 'outcomes',
  delay: 'delays',
};

/** Per cent of all parts, or of those of one kind; 100 where there are none. */
export function percentOf({ items }: Pick<MachineCoverage, 'items'>, kind?: CoverageItem['kind']): number {
  const asked = kind === undefined ? items : items.filter((item) => item.kind === kind);
  if (asked.length === 0) return 100;
  return (100 * asked.filter(({ times }) => times > 0).length) / asked.length;
}

/** A table, a line a machine, and below it what is missing. */
export function coverageText(machines: readonly MachineCoverage[]): string {
  const cells = [
    ['machine', ...KINDS.map((kind) => TITLES[kind]), 'all'],
    ...machines.map((one) => [
      one.machine,
      ...[...KINDS, undefined].map((kind) => `${percentOf(one, kind).toFixed(1)} %`),
    ]),
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
