import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RunCharts } from '../../src/inspection/wire.ts';
import './chart.css';
import './chart-marks.css';
import './chart-overlay.css';
import './chart-details.css';
import './chart-tools.css';
import './chart-rows.css';
import { ChartPicture } from './chart-picture.tsx';
import { ChartRows, type ChartRowsProps } from './chart-rows.tsx';
import type { LaidOut } from './laid-out.ts';
import { bakedDrawingsOf, layoutOf } from './layout.ts';
import type { Hues } from './state-shape.tsx';

export interface ChartViewProps extends ChartRowsProps {
  readonly hues?: Hues;
  /** Where they were laid out elsewhere: the page itself does not try. */
  readonly laidOut?: LaidOut | undefined;
}

/** The chart as a picture, or in rows where there is none or somebody prefers that. */
export function ChartView({ hues, laidOut, ...props }: ChartViewProps) {
  const { charts } = props;
  const [made, setMade] = useState<Made | null>(null);
  const [rows, setRows] = useState(false);
  const baked = useMemo(() => bakedDrawingsOf(charts), [charts]);
  const given = laidOut ?? (made?.charts === charts ? made : null);
  const ready = baked ?? given?.drawings ?? null;
  const problem = given?.problem ?? null;

  useEffect(() => {
    if (ready !== null || laidOut !== undefined) return;
    let isWanted = true;
    const set = (done: LaidOut): void => {
      if (isWanted) setMade({ charts, ...done });
    };
    layoutOf(charts).then(
      (drawings) => set({ drawings, problem: null }),
      (error: Error) => set({ drawings: null, problem: error.message }),
    );
    return () => {
      isWanted = false;
    };
  }, [charts, ready, laidOut]);

  const inRows = rows || ready === null;
  return (
    <div class="chart-view">
      {inRows ? (
        <ChartRows {...props} />
      ) : (
        <ChartPicture {...props} drawings={ready} {...(hues === undefined ? {} : { hues })} />
      )}
      <div class="chart-kind">
        {ready === null ? (
          <p role="status">{problem ?? 'Laying out the chart…'}</p>
        ) : (
          <button type="button" aria-pressed={rows} onClick={() => setRows(!rows)}>
            Rows
          </button>
        )}
      </div>
    </div>
  );
}

interface Made extends LaidOut {
  readonly charts: RunCharts;
}
