import type { CoverageItem } from '../structure/coverage-items.ts';

type Kind = CoverageItem['kind'];

/** The kinds of items, in display order. */
export const KINDS = ['state', 'transition', 'guard', 'outcome', 'delay'] as const satisfies readonly Kind[];

export const TITLES = {
  state: 'states',
  transition: 'transitions',
  guard: 'guards',
  outcome: 'outcomes',
  delay: 'delays',
} as const satisfies Readonly<Record<Kind, string>>;

export type CoverageTitle = (typeof TITLES)[Kind];

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
