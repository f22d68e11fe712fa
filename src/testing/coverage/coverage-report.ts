import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Chart } from '../../durable/charts/chart.ts';
import { oneLine, printable } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import type { CoverageItem } from '../structure/coverage-items.ts';

/** A part of a chart, and how often it was reached. */
export interface CoveredItem extends CoverageItem {
  readonly times: number;
}

export interface MachineCoverage {
  /** Its id; in reports, with its states if it has no id of its own, or with a number if another machine has the same one. */
  readonly machine: string;
  readonly chart: Chart;
  readonly items: readonly CoveredItem[];
}

/** Gives different machines different names. */
export function withUniqueNames(all: readonly MachineCoverage[]): readonly MachineCoverage[] {
  const taken = new Set<string>();
  return all.map((one) => {
    const numbered = (nth: number): string => (nth === 1 ? one.machine : `${one.machine} (${nth})`);
    let nth = 1;
    while (taken.has(numbered(nth))) nth += 1;
    taken.add(numbered(nth));
    return { ...one, machine: numbered(nth) };
  });
}

type Kind = CoverageItem['kind'];

/** The kinds of items, in display order. */
const KINDS = ['state', 'transition', 'guard', 'outcome', 'delay'] as const satisfies readonly Kind[];

export const TITLES = {
  state: 'states',
  transition: 'transitions',
  guard: 'guards',
  outcome: 'outcomes',
  delay: 'delays',
} as const satisfies Readonly<Record<Kind, string>>;

type CoverageTitle = (typeof TITLES)[Kind];

/** Returns the percentage of items covered, in total or of one kind; 100 if there are none. */
export function percentOf(
  { items }: { readonly items: readonly { readonly kind: Kind; readonly times: number }[] },
  kind?: Kind,
): number {
  const counted = kind === undefined ? items : items.filter((item) => item.kind === kind);
  if (counted.length === 0) return 100;
  return (100 * counted.filter(({ times }) => times > 0).length) / counted.length;
}

/** Formats a percentage with one decimal, rounded down: `100.0%` means all. */
export const formatPercent = (percent: number): string => `${(Math.floor(percent * 10 + 1e-9) / 10).toFixed(1)}%`;

/** Formats coverage as a table with one line per machine, followed by the items not reached unless `missing` is false. */
export function coverageText(
  machines: readonly MachineCoverage[],
  options: { readonly missing?: boolean } = {},
): string {
  requireKnownOptions('coverageText', options, 'missing');
  const { missing: listsMissing = true } = options;
  const rows = [
    ['machine', ...KINDS.map((kind) => TITLES[kind]), 'all'],
    ...machines.map((one) => [
      one.machine,
      ...[...KINDS, undefined].map((kind) => formatPercent(percentOf(one, kind))),
    ]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const missing = (listsMissing ? machines : []).flatMap(({ machine, items }) => {
    const unreached = items.filter(({ times }) => times === 0);
    return unreached.length === 0
      ? []
      : ['', `${machine}, not reached:`, ...unreached.map(({ kind, name }) => `  ${kind.padEnd(10)}  ${name}`)];
  });
  return printable(`${[...table, ...missing].join('\n')}\n`);
}

/** The percentage that each machine must reach, in total or of one kind. */
export type CoverageThresholds = Readonly<Partial<Record<CoverageTitle | 'all', number>>>;

/** Returns one line per missed threshold: `door: 50.0% of guards, below 80%`. Throws `invalid_option` for an invalid threshold. */
export function missedThresholds(
  machines: readonly MachineCoverage[],
  thresholds: CoverageThresholds,
): readonly string[] {
  requirePercentages(thresholds);
  return machines.flatMap((one) =>
    Object.entries(thresholds).flatMap(([title, minimum]) => {
      const kind = KINDS.find((name) => TITLES[name] === title);
      const percent = percentOf(one, kind);
      return minimum === undefined || percent >= minimum
        ? []
        : [oneLine(`${one.machine}: ${formatPercent(percent)} of ${title}, below ${minimum}%`)];
    }),
  );
}

/** Throws `invalid_option` for an unknown kind or a value that is not a percentage. */
export function requirePercentages(thresholds: CoverageThresholds): void {
  const known = [...Object.values(TITLES), 'all'];
  for (const [title, minimum] of Object.entries(thresholds) as readonly (readonly [string, unknown])[]) {
    if (!known.includes(title))
      throw new PostChainError('invalid_option', `"thresholds" keys must be ${known.join(', ')}; received "${title}"`);
    if (minimum !== undefined && !(typeof minimum === 'number' && minimum >= 0 && minimum <= 100))
      throw new PostChainError(
        'invalid_option',
        `"thresholds.${title}" must be a percentage from 0 to 100; received ${minimum}`,
      );
  }
}
