import { useMemo, useState } from 'preact/hooks';
import { ChartView } from '../chart/chart-view.tsx';
import type { Choice } from '../chart/scene.ts';
import { Guarded } from '../panels/panel.tsx';
import { shortly } from '../ui-state/text.ts';
import { MissingList } from './missing-list.tsx';
import {
  answerOf,
  type CoveredMachine,
  layoutFor,
  lightsOf,
  type ShownItem,
  type ShownReport,
  shortName,
  stateOf,
  transitionOf,
} from './report.ts';
import './coverage-chart.css';
import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { formatPercent, KINDS, percentOf, TITLES } from '../../src/testing/coverage/coverage-report.ts';
import { ownOf } from '../chart/drawing.ts';
import { counted, grouped } from '../fold/format.ts';

/** The coverage of all machines; for the selected one, its chart and uncovered items. */
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
          <p class="muted">No machine was executed.</p>
        ) : (
          <>
            <CoverageTable machines={machines} shown={place} onShow={showMachine} />
            <section class="coverage-chart" aria-label={`Chart of ${shortly(shown.machine, 80)}`}>
              {chart === undefined ? (
                <p class="problem">This file has no chart of this machine.</p>
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
              <h2 id="missing-title">Not covered</h2>
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

interface ChosenItemsProps {
  readonly report: ShownReport;
  readonly chosen: Choice;
  readonly onClose: () => void;
}

/** What was chosen in the chart, and what of it was brought about. */
function ChosenItems({ report, chosen, onClose }: ChosenItemsProps) {
  const machine = report.machines.find((one) => one.machine === chosen.chartId);
  return (
    <aside class="chosen-note" aria-label="Selected in the chart">
      {machine === undefined ? (
        <p>Nothing is known of {shortly(chosen.chartId, 60)}: it was not covered.</p>
      ) : chosen.kind === 'state' ? (
        <StateItems report={report} machine={machine} stateId={chosen.stateId} />
      ) : (
        <TransitionItems machine={machine} places={chosen.transitions} />
      )}
      <button type="button" aria-label="Close" onClick={onClose}>
        ×
      </button>
    </aside>
  );
}

interface StateItemsProps {
  readonly report: ShownReport;
  readonly machine: CoveredMachine;
  readonly stateId: string;
}

/** A state, and what runs in it. */
function StateItems({ report, machine, stateId }: StateItemsProps) {
  const chart = report.charts.charts.find(({ id }) => id === machine.machine);
  const state = chart?.states.find(({ id }) => id === stateId);
  const own = machine.items.filter((item) => chart !== undefined && stateOf(item, chart) === stateId);
  const entered = own.find(({ kind }) => kind === 'state');
  return (
    <ul>
      <li>
        <b>{shortly(state?.name ?? stateId, 60)}</b>{' '}
        {entered !== undefined && <Told times={entered.times} is="entered" />} {shortly(state?.description ?? '', 300)}
      </li>
      {own
        .filter(({ kind }) => kind !== 'state')
        .slice(0, SHOWN)
        .map((item) => (
          <li key={item.key}>
            {shortly(item.name.slice(stateId.length + 2), 80)} <Told times={item.times} is="" />
          </li>
        ))}
    </ul>
  );
}

const SHOWN = 6;

interface TransitionItemsProps {
  readonly machine: CoveredMachine;
  readonly places: readonly number[];
}

/** Transitions with their guard results. */
function TransitionItems({ machine, places }: TransitionItemsProps) {
  return (
    <ul>
      {places.slice(0, SHOWN).map((place) => {
        const own = machine.items.filter((item) => transitionOf(item) === place);
        const [taken] = own.filter(({ kind }) => kind === 'transition');
        const answers = own.filter(({ kind }) => kind === 'guard');
        return taken === undefined ? null : (
          <li key={place}>
            <b>{shortly(shortName(taken, machine.machine), 160)}</b> <Told times={taken.times} is="taken" />
            {answers.length > 0 && <>; its guard said {answers.map(answerWords).join(', ')}</>}
          </li>
        );
      })}
      {places.length > SHOWN && <li class="muted">and {places.length - SHOWN} more</li>}
    </ul>
  );
}

function answerWords(item: ShownItem): string {
  return item.times === 0 ? `never ${answerOf(item)}` : `${answerOf(item)} ${counted(item.times, 'time')}`;
}

function Told({ times, is }: { readonly times: number; readonly is: string }) {
  const words = times === 0 ? `never ${is}` : `${is} ${counted(times, 'time')}`;
  return <span class={times === 0 ? 'not-reached' : 'reached'}>{words.trim()}</span>;
}

/** How the chart is coloured. */
function CoverageLegend({ charts, chart }: { readonly charts: RunCharts; readonly chart: Chart }) {
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

interface CoverageTableProps {
  readonly machines: readonly CoveredMachine[];
  /** By its place. */
  readonly shown: number;
  readonly onShow: (place: number) => void;
}

/** A row a machine, which shows that machine. */
function CoverageTable({ machines, shown, onShow }: CoverageTableProps) {
  return (
    <div class="coverage-table">
      <table>
        <caption class="unseen">Coverage by machine</caption>
        <thead>
          <tr>
            {['machine', ...KINDS.map((kind) => TITLES[kind]), 'all'].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {machines.map((one, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: they do not change, and two may have one name
            <tr key={place} class={place === shown ? 'shown' : undefined}>
              <th scope="row">
                <button
                  type="button"
                  aria-pressed={place === shown}
                  title={shortly(one.machine, 300)}
                  onClick={() => onShow(place)}
                >
                  {shortly(one.machine, 60)}
                </button>
              </th>
              {KINDS.map((kind) => (
                <Share key={kind} items={one.items.filter((item) => item.kind === kind)} />
              ))}
              <Share items={one.items} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Per cent, and how many of how many. */
function Share({ items }: { readonly items: readonly ShownItem[] }) {
  if (items.length === 0) return <td class="muted">none</td>;
  const percent = percentOf({ items });
  const reached = items.filter(({ times }) => times > 0).length;
  return (
    <td class={reached === items.length ? 'whole' : undefined}>
      <span>{formatPercent(percent)}</span>{' '}
      <span class="muted">
        {grouped(reached)} of {grouped(items.length)}
      </span>
      <span class="share" aria-hidden="true" style={{ '--share': `${percent}%` }} />
    </td>
  );
}
