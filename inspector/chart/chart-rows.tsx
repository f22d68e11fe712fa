import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import './chart-rows.css';
import { type IndexedChart, indexChart } from '../fold/chart-index.ts';
import type { Marks, Overlay } from '../fold/marks.ts';
import type { ChartSelection } from '../fold/selection.ts';
import { excerpt } from '../fold/text.ts';
import { ownOf } from './drawing.ts';
import { heatMark, transitionKey } from './highlight.ts';
import { normalizeChart } from './normalize-chart.ts';

/** A chart and what to highlight in it, as a picture or in rows. */
export interface ChartProps {
  readonly charts: RunCharts;
  readonly root: string;
  readonly marks: Marks;
  readonly selected?: ChartSelection | null | undefined;
  /** Scrolled into view each time it becomes another object. */
  readonly revealed?: ChartSelection | null;
  readonly onSelect?: ((selection: ChartSelection) => void) | undefined;
  readonly overlay?: Overlay | null;
  /** The number of calls and retries by state; shown in the picture if there is no overlay. */
  readonly badges?: Overlay | null;
  /** Keys of transitions, see `transitionKey`. */
  readonly neverTaken?: ReadonlySet<string> | undefined;
}

const MAX_ROWS = 2_500;

/** The chart as a list of states with their transitions. `status`: why it is not drawn. */
export function ChartRows(props: ChartProps & { readonly status: string }) {
  const { charts, root, marks, selected, revealed, onSelect, overlay = null, neverTaken, status } = props;
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (revealed && list.current !== null) scrollTo(list.current, '.selected');
  }, [revealed]);
  useLayoutEffect(() => {
    if (list.current !== null) scrollTo(list.current, '.leaf');
  }, [marks]);
  const rows = useMemo(() => rowsOf({ charts, root, marks, neverTaken }), [charts, root, marks, neverTaken]);
  return (
    <div class="chart-rows" ref={list}>
      <p role="status">{status}</p>
      <ul aria-label={`States of ${excerpt(root, 80)}`}>
        {rows.map((row) => (
          <StateRow
            key={row.key}
            row={row}
            heat={heatMark(overlay, row)?.text ?? ''}
            selected={selected}
            onSelect={onSelect}
          />
        ))}
      </ul>
      {rows.length >= MAX_ROWS && <p>Only the first {MAX_ROWS} states are shown.</p>}
    </div>
  );
}

interface StateRowProps extends Pick<ChartProps, 'selected' | 'onSelect'> {
  readonly row: Row;
  readonly heat: string;
}

function StateRow({ row, heat, selected, onSelect }: StateRowProps) {
  const { chartId, stateId, isActive, isLeaf, isLastTarget } = row;
  const isSelected = selected?.kind === 'state' && selected.chartId === chartId && selected.stateId === stateId;
  const lines = selected?.kind === 'transitions' && selected.chartId === chartId ? selected.transitions : [];
  return (
    <li
      class={classNames({ active: isActive, leaf: isLeaf, last: isLastTarget, selected: isSelected })}
      style={{ '--level': Math.min(row.level, 12) }}
    >
      <button
        type="button"
        title={excerpt(row.description, 300)}
        aria-current={isLeaf ? 'step' : undefined}
        aria-pressed={isSelected}
        onClick={() => onSelect?.({ kind: 'state', chartId, stateId })}
      >
        {excerpt(row.name, 60)}
        {isActive && <span class="visually-hidden">, active</span>}
      </button>
      {heat !== '' && <span class="heat">{excerpt(heat, 18)}</span>}
      <span class="transitions">
        {row.transitions.map(({ index, text, taken, isLast, isNever }) => (
          <span
            key={index}
            class={classNames({ taken: taken > 0, last: isLast, never: isNever, selected: lines.includes(index) })}
          >
            {excerpt(text, 80)}
            {taken > 0 && ` ×${taken}`}
            {isLast && <span class="visually-hidden">, latest</span>}
          </span>
        ))}
      </span>
    </li>
  );
}

const classNames = (which: Readonly<Record<string, boolean>>): string =>
  Object.keys(which)
    .filter((name) => which[name])
    .join(' ');

/** Scrolls only the rows, not the page around them; not at all if the row is visible. */
function scrollTo(list: HTMLElement, rows: string): void {
  const row = list.querySelector(rows)?.getBoundingClientRect();
  const { top, bottom, height } = list.getBoundingClientRect();
  if (row === undefined || (row.top >= top && row.bottom <= bottom)) return;
  list.scrollTop += row.top + row.height / 2 - top - height / 2;
}

interface Row {
  readonly key: string;
  readonly chartId: string;
  readonly stateId: string;
  readonly name: string;
  readonly description: string;
  readonly level: number;
  readonly isActive: boolean;
  /** The state is active, and none of its children is. */
  readonly isLeaf: boolean;
  readonly isLastTarget: boolean;
  readonly transitions: readonly {
    readonly index: number;
    readonly text: string;
    readonly taken: number;
    readonly isLast: boolean;
    readonly isNever: boolean;
  }[];
}

type RowsInput = Pick<ChartProps, 'charts' | 'root' | 'marks' | 'neverTaken'>;

/** The states of a chart in order. The states of a running inner chart follow the state that invokes it. */
function rowsOf({ charts, root, marks, neverTaken }: RowsInput): readonly Row[] {
  const hosted = new Map(Object.entries(marks.where).map(([inner, at]) => [stateKey(at.chartId, at.stateId), inner]));
  const rows: Row[] = [];
  const visited = new Set<string>();
  const visit = (chartId: string, level: number): void => {
    const chart = charts.charts.find(({ id }) => id === chartId);
    if (chart === undefined || visited.has(chartId)) return;
    visited.add(chartId);
    const index = normalizedIndex(chart);
    const active = ownOf(marks.active, chartId) ?? new Set<string>();
    const taken = ownOf(marks.taken, chartId);
    const last = marks.last?.chartId === chartId ? marks.last : null;
    const addChildren = (parent: string, depth: number): void => {
      for (const { id, name, description } of index.childrenOf(parent)) {
        if (rows.length >= MAX_ROWS) return;
        const isActive = active.has(id);
        rows.push({
          key: stateKey(chartId, id),
          chartId,
          stateId: id,
          name,
          description,
          level: depth,
          isActive,
          isLeaf: isActive && !index.childrenOf(id).some((child) => active.has(child.id)),
          isLastTarget: last?.target === id,
          transitions: index.transitionsFrom(id).map((transition) => ({
            index: transition.index,
            text: transitionText(transition, index),
            taken: taken?.get(transition.index) ?? 0,
            isLast: last?.transition === transition.index,
            isNever: neverTaken?.has(transitionKey(chartId, transition.index)) ?? false,
          })),
        });
        addChildren(id, depth + 1);
        const inner = hosted.get(stateKey(chartId, id));
        if (inner !== undefined) visit(inner, depth + 1);
      }
    };
    addChildren(chartId, level);
  };
  visit(root, 1);
  return rows;
}

const stateKey = (chartId: string, stateId: string): string => JSON.stringify([chartId, stateId]);

function transitionText(
  { event, guard, otherwise, target }: Chart['transitions'][number],
  { state }: IndexedChart,
): string {
  const trigger = [event, otherwise ? 'else' : (guard ?? '')].filter((part) => part !== '').join(': ');
  const targets = target.map((id) => state(id)?.name ?? id);
  return `${trigger === '' ? 'always' : trigger} \u203a ${targets.join(', ') || 'stays'}`;
}

const indexes = new WeakMap<Chart, IndexedChart>();

function normalizedIndex(chart: Chart): IndexedChart {
  const cached = indexes.get(chart) ?? indexChart(normalizeChart(chart));
  indexes.set(chart, cached);
  return cached;
}
