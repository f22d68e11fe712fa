import './coverage-chart.css';
import { useMemo, useState } from 'preact/hooks';
import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { formatPercent, KINDS, percentOf, TITLES } from '../../src/testing/coverage/coverage-report.ts';
import { ChartView } from '../chart/chart-view.tsx';
import { ownOf } from '../chart/drawing.ts';
import { formatNumber, pluralize } from '../fold/format.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { excerpt, revealHidden } from '../fold/text.ts';
import { ErrorBoundary } from '../panels/panel.tsx';
import { SelectionNote } from '../panels/selection-note.tsx';
import {
  type CoveredMachine,
  coverageMarksOf,
  guardResultOf,
  layoutFor,
  placeOfItem,
  type ReadReport,
  type ReportItem,
  shortName,
  stateOf,
  transitionOf,
} from './report.ts';

const HEADINGS: Readonly<Record<ReportItem['kind'], string>> = {
  state: 'States never entered',
  transition: 'Transitions never taken',
  guard: 'Guard results never observed',
  outcome: 'Actor outcomes never reached',
  delay: 'Delays that never elapsed',
};

/** The items of each kind shown before expanding. */
const MANY = 200;

interface MissingListProps {
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  /** The item revealed last is still selected. */
  readonly isRevealed: boolean;
  readonly onReveal: (choice: ChartSelection) => void;
}

function MissingList({ machine, chart, isRevealed, onReveal }: MissingListProps) {
  const [revealed, setRevealed] = useState<string | null>(null);
  const missing = machine.items.filter(({ times }) => times === 0);
  if (missing.length === 0) return <p>Nothing: this chart is fully covered.</p>;
  const marked = isRevealed ? revealed : null;
  const reveal = ({ key }: ReportItem, choice: ChartSelection): void => {
    setRevealed(key);
    onReveal(choice);
  };
  return (
    <>
      {KINDS.map((kind) => {
        const items = missing.filter((item) => item.kind === kind);
        return items.length === 0 ? null : (
          <MissingKind key={kind} items={items} {...{ kind, machine, chart, marked, reveal }} />
        );
      })}
    </>
  );
}

interface MissingKindProps {
  readonly kind: ReportItem['kind'];
  readonly items: readonly ReportItem[];
  readonly machine: CoveredMachine;
  readonly chart: Chart | undefined;
  readonly marked: string | null;
  readonly reveal: (item: ReportItem, choice: ChartSelection) => void;
}

function MissingKind({ kind, items, machine, chart, marked, reveal }: MissingKindProps) {
  const [all, setAll] = useState(false);
  return (
    <section aria-labelledby={`missing-${kind}`}>
      <h3 id={`missing-${kind}`}>
        {HEADINGS[kind]} <span class="number">{formatNumber(items.length)}</span>
      </h3>
      <ul>
        {items.slice(0, all ? items.length : MANY).map((item, at) => {
          const choice = chart === undefined ? null : placeOfItem(item, chart);
          const guardResult = guardResultOf(item);
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list is static, and keys of an edited file may repeat
            <li key={at}>
              <button
                type="button"
                class="missing-item verbatim"
                disabled={choice === null}
                aria-pressed={marked === item.key}
                title={revealHidden(item.name)}
                onClick={() => choice !== null && reveal(item, choice)}
              >
                {excerpt(shortName(item, machine.machine), 160)}
                {guardResult !== null && <span class="guard-result"> never {guardResult}</span>}
              </button>
            </li>
          );
        })}
      </ul>
      {!all && items.length > MANY && (
        <button type="button" onClick={() => setAll(true)}>
          Show all {formatNumber(items.length)}
        </button>
      )}
    </section>
  );
}

export function CoveragePage({ report }: { readonly report: ReadReport }) {
  const { title, charts, machines } = report;
  const [index, setPlace] = useState(0);
  const [selected, setSelected] = useState<ChartSelection | null>(null);
  const [revealed, setRevealed] = useState<ChartSelection | null>(null);
  const coverageMarks = useMemo(() => coverageMarksOf(report), [report]);
  const shown = machines[index];
  const chart = charts.charts.find(({ id }) => id === shown?.machine);

  function showMachine(next: number): void {
    setPlace(next);
    setSelected(null);
    setRevealed(null);
  }
  function reveal(choice: ChartSelection): void {
    const another = { ...choice };
    setSelected(another);
    setRevealed(another);
  }

  return (
    <>
      <header class="coverage-header">
        <h1>Chart coverage</h1>
        <p class="verbatim">{excerpt(title, 300)}</p>
      </header>
      <main class="coverage">
        {shown === undefined ? (
          <p class="muted">No machine was executed.</p>
        ) : (
          <>
            <CoverageTable machines={machines} shown={index} onShow={showMachine} />
            <section class="coverage-chart" aria-label={`Chart of ${excerpt(shown.machine, 80)}`}>
              {chart === undefined ? (
                <p class="problem">This file has no chart of this machine.</p>
              ) : (
                <ErrorBoundary name="The chart" resetKey={index}>
                  <ChartView
                    key={index}
                    charts={charts}
                    root={chart.id}
                    laidOut={layoutFor(chart, report)}
                    {...coverageMarks}
                    selected={selected}
                    revealed={revealed}
                    onSelect={setSelected}
                  />
                  <CoverageLegend charts={charts} chart={chart} />
                </ErrorBoundary>
              )}
              <div aria-live="polite">
                {selected !== null && (
                  <SelectedItems report={report} selected={selected} onClose={() => setSelected(null)} />
                )}
              </div>
            </section>
            <section class="missing" aria-labelledby="missing-title">
              <h2 id="missing-title">Not covered</h2>
              <MissingList
                key={index}
                machine={shown}
                chart={chart}
                isRevealed={selected !== null && selected === revealed}
                onReveal={reveal}
              />
            </section>
          </>
        )}
      </main>
    </>
  );
}

interface SelectedItemsProps {
  readonly report: ReadReport;
  readonly selected: ChartSelection;
  readonly onClose: () => void;
}

function SelectedItems({ report, selected, onClose }: SelectedItemsProps) {
  const machine = report.machines.find((one) => one.machine === selected.chartId);
  return (
    <SelectionNote onClose={onClose}>
      {machine === undefined ? (
        <p>No coverage data for {excerpt(selected.chartId, 60)}.</p>
      ) : selected.kind === 'state' ? (
        <StateItems report={report} machine={machine} stateId={selected.stateId} />
      ) : (
        <TransitionItems machine={machine} transitions={selected.transitions} />
      )}
    </SelectionNote>
  );
}

interface StateItemsProps {
  readonly report: ReadReport;
  readonly machine: CoveredMachine;
  readonly stateId: string;
}

function StateItems({ report, machine, stateId }: StateItemsProps) {
  const chart = report.charts.charts.find(({ id }) => id === machine.machine);
  const state = chart?.states.find(({ id }) => id === stateId);
  const own = machine.items.filter((item) => chart !== undefined && stateOf(item, chart) === stateId);
  const entered = own.find(({ kind }) => kind === 'state');
  return (
    <ul>
      <li>
        <b>{excerpt(state?.name ?? stateId, 60)}</b>{' '}
        {entered !== undefined && <Times times={entered.times} is="entered" />} {excerpt(state?.description ?? '', 300)}
      </li>
      {own
        .filter(({ kind }) => kind !== 'state')
        .slice(0, MAX_ITEMS)
        .map((item) => (
          <li key={item.key}>
            {excerpt(item.name.slice(stateId.length + 2), 80)} <Times times={item.times} is="" />
          </li>
        ))}
    </ul>
  );
}

const MAX_ITEMS = 6;

interface TransitionItemsProps {
  readonly machine: CoveredMachine;
  readonly transitions: readonly number[];
}

function TransitionItems({ machine, transitions }: TransitionItemsProps) {
  return (
    <ul>
      {transitions.slice(0, MAX_ITEMS).map((index) => {
        const own = machine.items.filter((item) => transitionOf(item) === index);
        const [taken] = own.filter(({ kind }) => kind === 'transition');
        const guards = own.filter(({ kind }) => kind === 'guard');
        return taken === undefined ? null : (
          <li key={index}>
            <b>{excerpt(shortName(taken, machine.machine), 160)}</b> <Times times={taken.times} is="taken" />
            {guards.length > 0 && <>; guard: {guards.map(guardResultText).join(', ')}</>}
          </li>
        );
      })}
      {transitions.length > MAX_ITEMS && <li class="muted">and {transitions.length - MAX_ITEMS} more</li>}
    </ul>
  );
}

function guardResultText(item: ReportItem): string {
  return item.times === 0 ? `never ${guardResultOf(item)}` : `${guardResultOf(item)} ${pluralize(item.times, 'time')}`;
}

function Times({ times, is }: { readonly times: number; readonly is: string }) {
  const words = times === 0 ? `never ${is}` : `${is} ${pluralize(times, 'time')}`;
  return <span class={times === 0 ? 'not-reached' : 'reached'}>{words.trim()}</span>;
}

function CoverageLegend({ charts, chart }: { readonly charts: RunCharts; readonly chart: Chart }) {
  const ids = new Set(charts.charts.map(({ id }) => id));
  const hasInsets = chart.states.some(({ invokes }) =>
    invokes.some((name) => ids.has(ownOf(charts.invoked, name) ?? '')),
  );
  return (
    <p class="coverage-legend">
      <span class="sample reached">×2</span> covered twice <span class="sample not-reached">never</span> not covered
      <span class="lines-only">
        {' '}
        <span class="sample partly">partly</span> some transitions of a line not covered
        {hasInsets && <span class="wide"> · inner charts: sum of all their runs</span>}
      </span>
    </p>
  );
}

interface CoverageTableProps {
  readonly machines: readonly CoveredMachine[];
  readonly shown: number;
  readonly onShow: (index: number) => void;
}

function CoverageTable({ machines, shown, onShow }: CoverageTableProps) {
  return (
    <div class="coverage-table">
      <table>
        <caption class="visually-hidden">Coverage by machine</caption>
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
          {machines.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list is static, and names may repeat
            <tr key={index} class={index === shown ? 'shown' : undefined}>
              <th scope="row">
                <button
                  type="button"
                  aria-pressed={index === shown}
                  title={excerpt(one.machine, 300)}
                  onClick={() => onShow(index)}
                >
                  {excerpt(one.machine, 60)}
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

function Share({ items }: { readonly items: readonly ReportItem[] }) {
  if (items.length === 0) return <td class="muted">none</td>;
  const percent = percentOf({ items });
  const reached = items.filter(({ times }) => times > 0).length;
  return (
    <td class={reached === items.length ? 'whole' : undefined}>
      <span>{formatPercent(percent)}</span>{' '}
      <span class="muted">
        {formatNumber(reached)} of {formatNumber(items.length)}
      </span>
      <span class="share" aria-hidden="true" style={{ '--share': `${percent}%` }} />
    </td>
  );
}
