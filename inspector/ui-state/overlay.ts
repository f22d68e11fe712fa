import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type Coverage, coverageOf } from '../fold/coverage.ts';
import { formatDuration, pluralize } from '../fold/format.ts';
import type { RunFold } from '../fold/run-fold.ts';
import { type Measure, stateMeasuresOf, sumMeasures } from '../fold/state-measures.ts';
import type { Inspector } from './inspector.ts';

export const MEASURES = [
  { name: 'ms', title: 'Time', text: formatDuration },
  { name: 'visits', title: 'Visits', text: (visits: number) => pluralize(visits, 'visit') },
  { name: 'tokens', title: 'Tokens', text: (tokens: number) => pluralize(tokens, 'token') },
  { name: 'retries', title: 'Retries', text: (retries: number) => (retries === 1 ? '1 retry' : `${retries} retries`) },
  { name: 'failures', title: 'Failures', text: (failures: number) => pluralize(failures, 'failure') },
] as const;

export type MeasureName = (typeof MEASURES)[number]['name'];

/** The measure shown on the chart; null shows none. */
export const activeMeasure = signal<MeasureName | null>(null);

/** Measures the selected run up to the cursor, or all loaded runs completely. */
export const overlayScope = signal<'run' | 'loaded'>('run');

/** Whether transitions never taken are marked in the chart. */
export const marksNeverTaken = signal(false);

/** The heat of a state, from 0 to 1 (the maximum of the chart's leaf states). Compound states only have text. */
interface HeatMark {
  readonly heat: number;
  readonly text: string;
}

/** By chart or, for each copy of an invoked chart, by `copyKey`; then by state. */
type StateMarks = Readonly<Record<string, ReadonlyMap<string, HeatMark>>>;
type StateNumbers = Readonly<Record<string, ReadonlyMap<string, Measure>>>;

export interface Overlay {
  /** Null while no measure is shown. */
  readonly heat: ReadonlySignal<StateMarks | null>;
  /** What the states of the selected run did up to the cursor, such as `3 calls · 1 retry`. */
  readonly badges: ReadonlySignal<StateMarks>;
  /** Indexes in `Chart.transitions` by chart; null while not marked. */
  readonly neverTaken: ReadonlySignal<Coverage['neverTaken'] | null>;
  readonly coverage: ReadonlySignal<Coverage | null>;
  readonly measures: ReadonlySignal<StateNumbers>;
  /** The number of runs included, and of runs excluded because their charts differ. */
  readonly runs: ReadonlySignal<{ readonly included: number; readonly excluded: number }>;
}

interface MeasuredRun {
  readonly fold: RunFold;
  /** Cached per charts object. */
  readonly charts: RunCharts;
  readonly until: number;
}

const known = new WeakMap<Inspector, Overlay>();

/** The overlay of a page; cached. */
export function overlayOf(inspector: Inspector): Overlay {
  const cached = known.get(inspector) ?? createOverlay(inspector);
  known.set(inspector, cached);
  return cached;
}

function createOverlay({ view, loaded }: Inspector): Overlay {
  const charts = computed(() => view.value?.charts ?? null);

  const measured = computed<{ readonly runs: readonly MeasuredRun[]; readonly excluded: number }>(() => {
    if (overlayScope.value === 'run') {
      const { fold, charts: own, at } = view.value ?? {};
      return { runs: !fold || !own ? [] : [{ fold, charts: own, until: at ?? 0 }], excluded: 0 };
    }
    const own = charts.value;
    const loadedRuns = loaded.value.filter((run) => run.count.value > 0);
    const sameCharts = loadedRuns.flatMap(({ fold, charts: theirs, count }) =>
      own !== null && theirs.value !== null && haveSameCharts(own, theirs.value)
        ? [{ fold, charts: theirs.value, until: count.value - 1 }]
        : [],
    );
    return { runs: sameCharts, excluded: loadedRuns.length - sameCharts.length };
  });

  const measures = computed(() => {
    const all = charts.value;
    return all === null ? {} : numbersOf(all, measured.value.runs);
  });

  const badges = computed(() => {
    const { fold, charts: own, at } = view.value ?? {};
    if (!fold || !own) return {};
    const numbers = numbersOf(own, [{ fold, charts: own, until: at ?? 0 }]);
    return Object.fromEntries(
      Object.entries(numbers).map(([key, states]) => [
        key,
        new Map([...states].map(([state, measure]) => [state, { heat: 0, text: badgeOf(measure) }])),
      ]),
    );
  });

  const coverage = computed(() => {
    const all = charts.value;
    if (all === null) return null;
    return coverageOf(
      all.charts,
      measured.value.runs.map(({ fold, until }) => ({ transitions: fold.transitions, until })),
    );
  });

  const heat = computed(() => {
    const name = activeMeasure.value;
    const all = charts.value;
    return name === null || all === null ? null : heatOf(all, measures.value, name);
  });

  return {
    heat,
    badges,
    coverage,
    measures,
    neverTaken: computed(() => (marksNeverTaken.value ? (coverage.value?.neverTaken ?? null) : null)),
    runs: computed(() => ({ included: measured.value.runs.length, excluded: measured.value.excluded })),
  };
}

/** The measures of all states of charts and their copies, summed over runs. */
function numbersOf({ charts }: RunCharts, measured: readonly MeasuredRun[]): StateNumbers {
  const runs = measured.map(({ fold, charts: own, until }) => ({ until, of: stateMeasuresOf(fold, own) }));
  const copies = new Map(runs.flatMap(({ of }) => [...of.copies]));
  const keys: readonly (readonly [string, string])[] = [...charts.map(({ id }) => [id, id] as const), ...copies];
  return Object.fromEntries(
    keys.map(([key, chartId]) => {
      const states = charts.find(({ id }) => id === chartId)?.states ?? [];
      const sumOf = (state: string): Measure => sumMeasures(runs.map(({ until, of }) => of.at(key, state, until)));
      return [key, new Map(states.map(({ id }) => [id, sumOf(id)]))];
    }),
  );
}

function badgeOf({ calls, retries, failures }: Measure): string {
  if (calls === 0) return '';
  const trouble = retries > 0 ? MEASURES[3].text(retries) : failures > 0 ? `${failures} failed` : '';
  return [pluralize(calls, 'call'), trouble].filter((part) => part !== '').join(' · ');
}

function heatOf({ charts }: RunCharts, numbers: StateNumbers, name: MeasureName): StateMarks {
  const textOf = MEASURES.find((measure) => measure.name === name)?.text ?? String;
  const outer = new Set(charts.flatMap(({ states }) => states.map(({ parent }) => parent)));
  return Object.fromEntries(
    Object.entries(numbers).map(([key, states]) => {
      const max = Math.max(
        ...[...states].map(([state, measure]) => (outer.has(state) ? 0 : measure[name])),
        Number.MIN_VALUE,
      );
      const markOf = (state: string, value: number): HeatMark => ({
        heat: outer.has(state) ? 0 : value / max,
        text: value === 0 ? '' : textOf(value),
      });
      return [key, new Map([...states].map(([state, measure]) => [state, markOf(state, measure[name])]))];
    }),
  );
}

const texts = new WeakMap<RunCharts, string>();

function haveSameCharts(left: RunCharts, right: RunCharts): boolean {
  const textOf = (charts: RunCharts): string => {
    const cached = texts.get(charts) ?? JSON.stringify(charts);
    texts.set(charts, cached);
    return cached;
  };
  return left === right || textOf(left) === textOf(right);
}
