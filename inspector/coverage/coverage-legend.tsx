import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ownOf } from '../chart/own-of.ts';

/** How the chart is coloured. */
export function CoverageLegend({ charts, chart }: { readonly charts: RunCharts; readonly chart: Chart }) {
  const ids = new Set(charts.charts.map(({ id }) => id));
  const hasInsets = chart.states.some(({ invokes }) =>
    invokes.some((name) => ids.has(ownOf(charts.invoked, name) ?? '')),
  );
  return (
    <p class="coverage-legend">
      <span class="sign reached">×2</span> so often <span class="sign not-reached">never</span> not once
      <span class="of-lines">
        {' '}
        <span class="sign partly">partly</span> not every way of a line
        {hasInsets && <span class="wide"> · charts inside states: all their runs</span>}
      </span>
    </p>
  );
}
