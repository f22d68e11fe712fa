import type { RunCharts } from '../../src/inspection/wire.ts';
import { ancestorsOf, chartIndexOf } from './chart-index.ts';
import { type Taken, takenBy, transitionLookup } from './coverage.ts';
import { humanizeGuard } from './format.ts';
import type { RunFold } from './run-fold.ts';
import { type Measure, NOTHING, stateMeasuresOf, sumMeasures } from './state-measures.ts';
import { stateName } from './text.ts';
import type { RecordedTransition } from './transition-log.ts';

/** What one run did up to an entry, in a form that can be summed: the entries of hundreds of runs do not fit in a page. */
export interface RunTotals {
  readonly charts: RunCharts;
  /** The visited states, by chart or, for each copy of an invoked chart, by `copyKey`. */
  readonly states: ReadonlyMap<string, ReadonlyMap<string, Measure>>;
  /** The copies of invoked charts, by key, with the ids of their charts. */
  readonly copies: ReadonlyMap<string, string>;
  readonly taken: Taken;
  /** The states that the first chart entered, each with its guard if there was a choice. Repeated states are counted: `2× from action`. */
  readonly path: readonly string[];
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
    path: hasPath ? pathOf(fold, charts, until) : [],
  };
}

/** Longer repetitions are not recognized. */
const MAX_BLOCK = 12;

/** A path names the states up to this level: the phases of a run, not their steps. */
const PATH_LEVEL = 3;

/** A state of a path; or, if `length` is set, how often the states before it occurred in a row. */
interface PathItem {
  readonly name: string;
  /** The guard that was taken, if there was a choice; otherwise empty. */
  readonly why: string;
  readonly length?: number;
  readonly times?: number;
}

function pathOf({ transitions }: RunFold, charts: RunCharts, until: number): readonly string[] {
  const { first } = chartIndexOf(charts);
  if (first === undefined) return [];
  const nameOf = (state: string): string => {
    const around = ancestorsOf(first, state);
    return stateName((around.at(-PATH_LEVEL) ?? around[0])?.id ?? state);
  };
  const lookup = transitionLookup(charts.charts);
  /** The guard of a transition, if others lead from its state to the same one for the same event. */
  const reasonOf = (transition: RecordedTransition | undefined, target: string): string => {
    const index = transition && lookup.indexOf(transition);
    const all = first.transitionsFrom(transition?.source ?? '');
    const own = all.find((one) => one.index === index);
    const others = all.filter(({ event, target: [to = ''] }) => event === own?.event && nameOf(to) === target);
    return own?.guard && others.length > 1 ? humanizeGuard(own.guard) : '';
  };
  const own = transitions.distinct.filter(({ machine }) => machine === first.id);
  const taken = new Map(own.flatMap((transition) => transition.seqs.map((seq) => [seq, transition])));
  const path: PathItem[] = [];
  let before = '';
  for (const { targets, since } of transitions.positionsOf(first.id)) {
    if (since > until || targets[0] === undefined) continue;
    const name = nameOf(targets[0]);
    // A step inside the same state.
    if (name === before) continue;
    before = name;
    path.push({ name, why: reasonOf(taken.get(since), name) });
    countRepetition(path);
  }
  return path.map(({ name, why, times }) => `${times ? `${times}× from ` : ''}${name}${why && ` (${why})`}`);
}

/** Collapses a repetition at the end of a path into a count. Its first state may have been entered for a different reason. */
function countRepetition(path: PathItem[]): void {
  const isSame = (length: number, before: number): boolean =>
    path.slice(-length).every(({ name, why, times }, at) => {
      const other = path[path.length - before + at];
      return other?.name === name && other.times === times && (at === 0 || other.why === why);
    });
  for (let length = 2; length <= MAX_BLOCK && 2 * length <= path.length; length += 1) {
    const mark = path[path.length - length - 1];
    const isAgain = mark?.length === length && isSame(length, 2 * length + 1);
    if (!isAgain && !isSame(length, 2 * length)) continue;
    const { name = '', why = '' } = path.at(-length) ?? {};
    const reasons = new Set([...(isAgain ? mark.why.split(', ') : []), why]);
    path.length -= isAgain ? length + 1 : length;
    path.push({ name, why: [...reasons].join(', '), length, times: isAgain ? (mark.times ?? 2) + 1 : 2 });
  }
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
