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
import type { Drawing } from './drawing.ts';
import { bakedDrawingsOf, layoutOf } from './layout.ts';
import type { Hues } from './state-shape.tsx';

type Drawings = Readonly<Record<string, Drawing>>;

export interface ChartViewProps extends ChartRowsProps {
  readonly hues?: Hues;
}

/** The chart as a picture, or in rows where there is none or somebody prefers that. */
export function ChartView({ hues, ...props }: ChartViewProps) {
  const { charts } = props;
  const [made, setMade] = useState<Made | null>(null);
  const [rows, setRows] = useState(false);
  const baked = useMemo(() => bakedDrawingsOf(charts), [charts]);
  const ready = baked ?? (made?.charts === charts ? made.drawings : null);
  const problem = made?.charts === charts ? made.problem : null;

  useEffect(() => {
    if (ready !== null) return;
    let isWanted = true;
    const set = (done: Omit<Made, 'charts'>): void => {
      if (isWanted) setMade({ charts, ...done });
    };
    layoutOf(charts).then(
      (laidOut) => set({ drawings: laidOut, problem: null }),
      (error: Error) => set({ drawings: null, problem: error.message }),
    );
    return () => {
      isWanted = false;
    };
  }, [charts, ready]);

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

interface Made {
  readonly charts: RunCharts;
  readonly drawings: Drawings | null;
  readonly problem: string | null;
}
