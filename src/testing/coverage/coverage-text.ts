import type { CoverageItem } from '../anatomy/items.ts';
import type { MachineCoverage } from './coverage.ts';

type Kind = CoverageItem['kind'];

/** Each kind of part by what it is called where they are counted. */
const KINDS = {
  states: 'state',
  transitions: 'transition',
  guards: 'guard',
  outcomes: 'outcome',
  delays: 'delay',
} as const satisfies Readonly<Record<string, Kind>>;

export type CoverageTitle = keyof typeof KINDS;

export const COVERAGE_TITLES = Object.keys(KINDS) as readonly CoverageTitle[];

export const kindOf = (title: CoverageTitle): Kind => KINDS[title];

/** Per cent of all parts, or of those of one kind; 100 where there are none. */
export function percentOf({ items }: MachineCoverage, kind?: Kind): number {
  const asked = kind === undefined ? items : items.filter((item) => item.kind === kind);
  if (asked.length === 0) return 100;
  return (100 * asked.filter(({ times }) => times > 0).length) / asked.length;
}

/** With one place, cut, not rounded: what is not all is never told as 100.0 %. */
export const inPercent = (percent: number): string => `${(Math.floor(percent * 10 + 1e-9) / 10).toFixed(1)} %`;

/** A table, a line a machine, and below it what is missing. */
export function coverageText(machines: readonly MachineCoverage[]): string {
  const cells = [
    ['machine', ...COVERAGE_TITLES, 'all'],
    ...machines.map((one) => [
      one.machine,
      ...[...COVERAGE_TITLES.map(kindOf), undefined].map((kind) => inPercent(percentOf(one, kind))),
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
