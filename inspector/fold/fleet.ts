import type { RunCharts } from '../../src/inspection/wire.ts';
import { ancestorsOf, chartIndexOf } from './chart-index.ts';
import { type Taken, takenBy } from './coverage.ts';
import type { RunFold } from './run-fold.ts';
import { type Measure, NOTHING, stateMeasuresOf, sumMeasures } from './state-measures.ts';
import { stateName } from './text.ts';

/** What one run did up to an entry, in a form that can be summed: the entries of hundreds of runs do not fit in a page. */
export interface RunTotals {
  readonly charts: RunCharts;
  /** The visited states, by chart or, for each copy of an invoked chart, by `copyKey`. */
  readonly states: ReadonlyMap<string, ReadonlyMap<string, Measure>>;
  /** The copies of invoked charts, by key, with the ids of their charts. */
  readonly copies: ReadonlyMap<string, string>;
  readonly taken: Taken;
  /** The states that the first chart entered, without immediate repetitions. */
  readonly path: string;
}

/** `hasPath`: the path takes longest, and the view of one run does not show it. */
export function totalsOf(fold: RunFold, charts: RunCharts, until: number, hasPath = true): RunTotals {
  const measures = stateMeasuresOf(fold, charts);
  const keys = [...charts.charts.map(({ id }) => [id, id] as const), ...measures.copies];
  const visited = keys.map(([key, chartId]) => {
    const states = charts.charts.find(({ id }) => id === chartId)?.states ?? [];
    const all = states.map(({ id }) => [id, measures.at(key, id, until)] as const);
    return [key, new Map(all.filter(([, { visits }]) => visits > 0))] as const;
  });
  return {
    charts,
    states: new Map(visited),
    copies: new Map(measures.copies),
    taken: takenBy(charts.charts, { transitions: fold.transitions, until }),
    path: hasPath ? pathOf(fold, charts, until) : '',
  };
}

/** Longer repetitions are not recognized. */
const MAX_BLOCK = 12;

/** A path names the states up to this level: the phases of a run, not their steps. */
const PATH_LEVEL = 3;

function pathOf({ transitions }: RunFold, charts: RunCharts, until: number): string {
  const { first } = chartIndexOf(charts);
  if (first === undefined) return '';
  const path: string[] = [];
  for (const { targets, since } of transitions.positionsOf(first.id)) {
    if (since > until || targets[0] === undefined) continue;
    const around = ancestorsOf(first, targets[0]);
    path.push(stateName((around.at(-PATH_LEVEL) ?? around[0])?.id ?? targets[0]));
    for (let length = 1; length <= MAX_BLOCK && 2 * length <= path.length; length += 1) {
      const isRepeated = path.slice(-length).every((name, at) => name === path[path.length - 2 * length + at]);
      if (isRepeated) path.length -= length;
    }
  }
  return path.join(' → ');
}

/** By chart or copy, then by state. */
export type StateNumbers = Readonly<Record<string, ReadonlyMap<string, Measure>>>;

/** The measures of all states of charts and their copies, summed over runs. */
export function sumTotals({ charts }: RunCharts, runs: readonly RunTotals[]): StateNumbers {
  const keys = new Map([...charts.map(({ id }) => [id, id] as const), ...runs.flatMap(({ copies }) => [...copies])]);
  return Object.fromEntries(
    [...keys].map(([key, chartId]) => {
      const states = charts.find(({ id }) => id === chartId)?.states ?? [];
      const sumOf = (state: string): Measure =>
        sumMeasures(runs.map(({ states: own }) => own.get(key)?.get(state) ?? NOTHING));
      return [key, new Map(states.map(({ id }) => [id, sumOf(id)]))];
    }),
  );
}

/** The number of runs that took any of these transitions of a chart. */
export const runsThatTook = (runs: readonly RunTotals[], chartId: string, transitions: readonly number[]): number =>
  runs.filter(({ taken }) => transitions.some((index) => taken[chartId]?.has(index))).length;
