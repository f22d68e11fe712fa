import type { Chart } from '../../src/engine/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { Marks } from '../fold/marks.ts';
import { ownOf } from './drawing.ts';
import { transitionKey } from './highlight.ts';
import { normalizeChart } from './layout-plan.ts';

/** The most rows shown. */
export const MOST_ROWS = 2_500;

/** A state as a row, with its depth and its outgoing transitions. */
export interface Row {
  readonly key: string;
  readonly chartId: string;
  readonly stateId: string;
  readonly name: string;
  readonly description: string;
  readonly level: number;
  readonly isActive: boolean;
  /** Nothing in it is active, but it is. */
  readonly isLeaf: boolean;
  readonly isLastTarget: boolean;
  readonly transitions: readonly RowTransition[];
}

interface RowTransition {
  readonly place: number;
  readonly text: string;
  readonly taken: number;
  readonly isLast: boolean;
  readonly isNever: boolean;
}

/** The states of a chart in their order, and under those that a chart runs in now, that chart's. */
export function rowsOf(charts: RunCharts, root: string, marks: Marks, neverTaken: ReadonlySet<string>): readonly Row[] {
  const byId = new Map(charts.charts.map((chart) => [chart.id, chart]));
  const hosted = new Map(Object.entries(marks.where).map(([inner, at]) => [placeKey(at.chartId, at.stateId), inner]));
  const rows: Row[] = [];
  const shown = new Set<string>();
  const visit = (chartId: string, level: number): void => {
    const chart = byId.get(chartId);
    if (chart === undefined || shown.has(chartId)) return;
    shown.add(chartId);
    const { childrenOf, transitionsOf, nameOf } = soundIndex(chart);
    const active = ownOf(marks.active, chartId) ?? new Set<string>();
    const taken = ownOf(marks.taken, chartId);
    const { last } = marks;
    const under = (id: string, depth: number): void => {
      for (const state of childrenOf(id)) {
        if (rows.length >= MOST_ROWS) return;
        const isActive = active.has(state.id);
        rows.push({
          key: placeKey(chartId, state.id),
          chartId,
          stateId: state.id,
          name: state.name,
          description: state.description,
          level: depth,
          isActive,
          isLeaf: isActive && !childrenOf(state.id).some((child) => active.has(child.id)),
          isLastTarget: last?.chartId === chartId && last.target === state.id,
          transitions: transitionsOf(state.id).map(({ place, transition }) => ({
            place,
            text: textOf(transition, nameOf),
            taken: taken?.get(place) ?? 0,
            isLast: last?.chartId === chartId && last.transition === place,
            isNever: neverTaken.has(transitionKey(chartId, place)),
          })),
        });
        under(state.id, depth + 1);
        const inner = hosted.get(placeKey(chartId, state.id));
        if (inner !== undefined) visit(inner, depth + 1);
      }
    };
    under(chartId, level);
  };
  visit(root, 1);
  return rows;
}

const placeKey = (chartId: string, stateId: string): string => JSON.stringify([chartId, stateId]);

type Transition = Chart['transitions'][number];

function textOf({ event, guard, otherwise, target }: Transition, nameOf: (id: string) => string): string {
  const when = [event, otherwise ? 'else' : (guard ?? '')].filter((part) => part !== '').join(': ');
  return `${when === '' ? 'always' : when} \u203a ${target.length === 0 ? 'stays' : target.map(nameOf).join(', ')}`;
}

type Index = ReturnType<typeof indexOf>;
const indexes = new WeakMap<Chart, Index>();

function soundIndex(chart: Chart): Index {
  const known = indexes.get(chart) ?? indexOf(normalizeChart(chart));
  indexes.set(chart, known);
  return known;
}

function indexOf({ states, transitions }: Chart) {
  const children = new Map<string, Chart['states'][number][]>();
  const names = new Map(states.map(({ id, name }) => [id, name]));
  for (const state of states) {
    const siblings = children.get(state.parent ?? '') ?? [];
    siblings.push(state);
    children.set(state.parent ?? '', siblings);
  }
  const leaving = new Map<string, { readonly place: number; readonly transition: Transition }[]>();
  for (const [place, transition] of transitions.entries()) {
    const list = leaving.get(transition.source) ?? [];
    list.push({ place, transition });
    leaving.set(transition.source, list);
  }
  return {
    childrenOf: (id: string) => children.get(id) ?? [],
    transitionsOf: (id: string) => leaving.get(id) ?? [],
    nameOf: (id: string) => names.get(id) ?? id,
  };
}
