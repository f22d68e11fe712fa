import type { CoverageItem } from '../structure/items.ts';

type Kind = CoverageItem['kind'];

/** In the order in which they are told. */
export const KINDS = ['state', 'transition', 'guard', 'outcome', 'delay'] as const satisfies readonly Kind[];

/** What each kind of part is called where they are counted. */
export const TITLES = {
  state: 'states',
  transition: 'transitions',
  guard: 'guards',
  outcome: 'outcomes',
  delay: 'delays',
} as const satisfies Readonly<Record<Kind, string>>;

export type CoverageTitle = (typeof TITLES)[Kind];

/** Per cent of all parts, or of those of one kind; 100 where there are none. */
export function percentOf(
  { items }: { readonly items: readonly { readonly kind: Kind; readonly times: number }[] },
  kind?: Kind,
): number {
  const asked = kind === undefined ? items : items.filter((item) => item.kind === kind);
  if (asked.length === 0) return 100;
  return (100 * asked.filter(({ times }) => times > 0).length) / asked.length;
}

/** With one place, cut, not rounded: what is not all is never told as 100.0 %. */
export const inPercent = (percent: number): string => `${(Math.floor(percent * 10 + 1e-9) / 10).toFixed(1)} %`;
