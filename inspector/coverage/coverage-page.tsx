import { useMemo, useState } from 'preact/hooks';
import { ChartView } from '../chart/chart-view.tsx';
import type { Choice } from '../chart/choices.ts';
import { Guarded } from '../panels/guarded.tsx';
import { shortly } from '../ui-state/text.ts';
import { ChosenItems } from './chosen-items.tsx';
import { CoverageLegend } from './coverage-legend.tsx';
import { CoverageTable } from './coverage-table.tsx';
import { lightsOf } from './machine-lights.ts';
import { MissingList } from './missing-list.tsx';
import { layoutFor, type ShownReport } from './read-report.ts';
import './coverage-chart.css';

/** All machines in numbers; of one of them the chart, and what is missing in it. */
export function CoveragePage({ report }: { readonly report: ShownReport }) {
  const { title, charts, machines } = report;
  const [place, setPlace] = useState(0);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [sought, setSought] = useState<Choice | null>(null);
  const lights = useMemo(() => lightsOf(report), [report]);
  const shown = machines[place];
  const chart = charts.charts.find(({ id }) => id === shown?.machine);

  function showMachine(next: number): void {
    setPlace(next);
    setChosen(null);
    setSought(null);
  }
  function seek(choice: Choice): void {
    const another = { ...choice };
    setChosen(another);
    setSought(another);
  }

  return (
    <>
      <header class="coverage-header">
        <h1>Chart coverage</h1>
        <p class="told">{shortly(title, 300)}</p>
      </header>
      <main class="coverage">
        {shown === undefined ? (
          <p class="muted">No machine was covered.</p>
        ) : (
          <>
            <CoverageTable machines={machines} shown={place} onShow={showMachine} />
            <section class="coverage-chart" aria-label={`Chart of ${shortly(shown.machine, 80)}`}>
              {chart === undefined ? (
                <p class="problem">There is no chart of this machine in this file.</p>
              ) : (
                <Guarded name="The chart" when={place}>
                  <ChartView
                    key={place}
                    charts={charts}
                    root={chart.id}
                    laidOut={layoutFor(chart, report)}
                    {...lights}
                    chosen={chosen}
                    sought={sought}
                    onChoose={setChosen}
                  />
                  <CoverageLegend charts={charts} chart={chart} />
                </Guarded>
              )}
              <div aria-live="polite">
                {chosen !== null && <ChosenItems report={report} chosen={chosen} onClose={() => setChosen(null)} />}
              </div>
            </section>
            <section class="missing" aria-labelledby="missing-title">
              <h2 id="missing-title">What is missing</h2>
              <MissingList
                key={place}
                machine={shown}
                chart={chart}
                isSought={chosen !== null && chosen === sought}
                onSeek={seek}
              />
            </section>
          </>
        )}
      </main>
    </>
  );
}
