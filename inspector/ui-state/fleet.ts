import { computed, signal } from '@preact/signals';
import type { InspectedRun, RunCharts } from '../../src/inspection/wire.ts';
import { coverageOf } from '../fold/coverage.ts';
import { type RunTotals, runsThatTook, type StateNumbers, sumTotals, totalsOf } from '../fold/fleet.ts';
import { formatDuration, formatNumber, formatShare, pluralize } from '../fold/format.ts';
import type { HeatMark, Marks, Overlay } from '../fold/marks.ts';
import { DEFAULT_QUERY, parseRunQuery, printRunQuery, queriedRuns, type RunQuery } from '../fold/run-list.ts';
import { type Measure, NOTHING } from '../fold/state-measures.ts';
import type { Inspector } from './inspector.ts';
import { activePanel } from './panel.ts';

const words = (noun: string) => (count: number) => pluralize(count, noun);
const retries = (count: number): string => (count === 1 ? '1 retry' : `${formatNumber(count)} retries`);
const tenths = (number: number): string => number.toFixed(1);

/** `text` describes a sum; `mean` the mean per run or per visit. */
export const MEASURES = [
  { name: 'runs', title: 'Share', per: 'run', text: words('run'), mean: formatShare },
  { name: 'ms', title: 'Time', per: 'visit', text: formatDuration, mean: formatDuration },
  { name: 'visits', title: 'Visits', per: 'run', text: words('visit'), mean: tenths },
  { name: 'tokens', title: 'Tokens', per: 'visit', text: words('token'), mean: (mean: number) => tokens(mean) },
  { name: 'retries', title: 'Retries', per: 'visit', text: retries, mean: formatShare },
  { name: 'failures', title: 'Failures', per: 'visit', text: words('failure'), mean: formatShare },
] as const;

const tokens = (mean: number): string => pluralize(Math.round(mean), 'token');

export type MeasureName = (typeof MEASURES)[number]['name'];

/** A state's figure: the sum of one run (`runs` is null), or the mean of that many. */
export function figureOf(name: MeasureName, measure: Measure, runs: number | null) {
  const { per, text, mean } = MEASURES.find((one) => one.name === name) ?? MEASURES[0];
  const value = runs === null ? measure[name] : measure[name] / Math.max(1, per === 'run' ? runs : measure.visits);
  return { value, text: value === 0 ? '' : (runs === null ? text : mean)(value) };
}

/** The measure shown on the chart; null shows none. */
export const activeMeasure = signal<MeasureName | null>(null);

/** Counts the selected run up to the cursor, or all runs of the sets. */
export const fleetScope = signal<'run' | 'sets'>('sets');

/** Forks are left out, because each repeats the start of another run. */
const DEFAULT_SET: RunQuery = { ...DEFAULT_QUERY, forks: 'without' };

/** The filters of set A and of set B. */
export const fleetQueries = signal<readonly RunQuery[]>([DEFAULT_SET]);

const printed = (query: RunQuery): string => String(new URLSearchParams(printRunQuery(query)));

/** The settings of Fleet as parameters of the address, without those that have their default. */
export function printFleet(): Readonly<Record<string, string>> {
  const [a, b] = fleetQueries.value.map(printed);
  return {
    ...(fleetScope.value === 'run' && { scope: 'run' }),
    ...(activeMeasure.value !== null && { color: activeMeasure.value }),
    ...(a !== undefined && a !== printed(DEFAULT_SET) && { a }),
    ...(b !== undefined && { b }),
  };
}

export function readFleet({ scope, color, a, b }: Readonly<Record<string, string>>): void {
  const queryIn = (text: string): RunQuery => parseRunQuery(Object.fromEntries(new URLSearchParams(text)));
  fleetScope.value = scope === 'run' ? 'run' : 'sets';
  activeMeasure.value = MEASURES.find(({ name }) => name === color)?.name ?? null;
  fleetQueries.value = [a === undefined ? DEFAULT_SET : queryIn(a), ...(b === undefined ? [] : [queryIn(b)])];
}

/** Whether transitions never taken are marked in the chart. */
export const marksNeverTaken = signal(false);

/** The most runs that are read. */
export const MAX_RUNS = 500;

/** The runs of one set that were read and have the charts of the selected run. */
export interface RunSet {
  readonly runs: readonly { readonly run: InspectedRun; readonly totals: RunTotals }[];
  readonly numbers: StateNumbers;
}

export type Fleet = ReturnType<typeof createFleet>;

const known = new WeakMap<Inspector, Fleet>();

/** The fleet of a page; cached. */
export function fleetOf(inspector: Inspector): Fleet {
  const cached = known.get(inspector) ?? createFleet(inspector);
  known.set(inspector, cached);
  return cached;
}

/** How often the runs read so far are shown. */
const PUBLISH_MS = 250;

function createFleet({ view, runs, readRun }: Inspector) {
  const charts = computed(() => view.value?.charts ?? null);
  /** By run id; without totals if the run cannot be read. */
  const totalsByRun = signal<ReadonlyMap<string, { readonly status: string; readonly totals: RunTotals | null }>>(
    new Map(),
  );
  const isFleet = computed(() => activePanel.value === 'fleet');
  const areSets = computed(() => isFleet.value && fleetScope.value === 'sets' && runs.value.length > 1);
  const chosen = computed(() => {
    const kind = view.value?.run.kind;
    const ended = runs.value.filter((run) => !run.live && run.status !== 'running' && run.kind === kind);
    return areSets.value ? fleetQueries.value.map((query) => queriedRuns(ended, query)) : [];
  });
  /** The ended runs of the sets, of each the newest: `MAX_RUNS` in all. */
  const wanted = computed(() => {
    const newest = (runs: readonly InspectedRun[]): readonly InspectedRun[] =>
      runs
        .toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
        .slice(0, MAX_RUNS / chosen.value.length);
    return [...new Set(chosen.value.flatMap(newest))];
  });
  const isCut = computed(() => chosen.value.some((runs) => runs.length > MAX_RUNS / chosen.value.length));
  const unread = computed(() =>
    wanted.value.filter(({ runId, status }) => totalsByRun.value.get(runId)?.status !== status),
  );
  /** One or two sets; null while the selected run is shown alone. */
  const sets = computed(() => {
    const own = charts.value;
    if (!areSets.value || own === null) return null;
    const isWanted = new Set(wanted.value);
    return chosen.value.map((accepted): RunSet => {
      const read = accepted.flatMap((run) => {
        const totals = isWanted.has(run) ? totalsByRun.value.get(run.runId)?.totals : null;
        return totals && haveSameCharts(own, totals.charts) ? [{ run, totals }] : [];
      });
      return { runs: read, numbers: sumTotals(own, allTotals(read)) };
    });
  });
  const alone = computed(() => {
    const { fold, charts: own, at } = view.value ?? {};
    return fold && own ? totalsOf(fold, own, at ?? 0, false) : null;
  });
  const ownNumbers = computed(() => (alone.value === null ? {} : sumTotals(alone.value.charts, [alone.value])));
  const coverage = computed(() => {
    if (charts.value === null) return null;
    const all = sets.value?.flatMap((set) => allTotals(set.runs)) ?? (alone.value === null ? [] : [alone.value]);
    return coverageOf(
      charts.value.charts,
      all.map(({ taken }) => taken),
    );
  });

  /** Reads the wanted runs, one at a time. Returns a function that stops. */
  function read(): () => void {
    let isStopped = false;
    async function work(): Promise<void> {
      const found = new Map<string, { readonly status: string; readonly totals: RunTotals | null }>();
      const publish = (): void => {
        totalsByRun.value = new Map([...totalsByRun.peek(), ...found]);
      };
      let publishedAt = performance.now();
      for (const { runId, status } of unread.peek()) {
        if (isStopped) break;
        const { fold, charts: own, log } = await readRun(runId);
        const [shared, theirs] = [charts.peek(), own.peek()];
        // One object for all runs: charts are large.
        const used = shared !== null && theirs !== null && haveSameCharts(shared, theirs) ? shared : theirs;
        found.set(runId, { status, totals: used && log.count > 0 ? totalsOf(fold, used, log.count - 1) : null });
        if (performance.now() - publishedAt < PUBLISH_MS) continue;
        publishedAt = performance.now();
        publish();
      }
      publish();
    }
    void work();
    return () => {
      isStopped = true;
    };
  }

  return {
    sets,
    wanted,
    /** Whether more runs match. */
    isCut,
    unread,
    read,
    coverage,
    /** The measures of the selected run, or of set A. */
    numbers: computed(() => sets.value?.[0]?.numbers ?? ownNumbers.value),
    /** What the states of the selected run did up to the cursor, such as `3 calls · 1 retry`. */
    badges: computed(() =>
      isFleet.value && sets.value !== null
        ? {}
        : marksOf(ownNumbers.value, (measure) => ({ heat: 0, text: badgeOf(measure) })),
    ),
    /** Indexes in `Chart.transitions` by chart; null while not marked. */
    neverTaken: computed(() => (marksNeverTaken.value ? (coverage.value?.neverTaken ?? null) : null)),
    heat: computed(() => {
      const [name, own] = [activeMeasure.value, charts.value];
      return name === null || own === null || !isFleet.value ? null : heatOf(own, sets.value, ownNumbers.value, name);
    }),
    /** The shares of runs that took each line. */
    marks: computed(() =>
      isFleet.value && sets.value !== null && charts.value !== null ? marksOfSets(charts.value, sets.value) : null,
    ),
  };
}

export const allTotals = (runs: RunSet['runs']): readonly RunTotals[] => runs.map(({ totals }) => totals);

function marksOf(numbers: StateNumbers, markOf: (measure: Measure, key: string, state: string) => HeatMark): Overlay {
  return Object.fromEntries(
    Object.entries(numbers).map(([key, states]) => [
      key,
      new Map([...states].map(([state, measure]) => [state, markOf(measure, key, state)])),
    ]),
  );
}

function badgeOf({ calls, retries: retried, failures }: Measure): string {
  if (calls === 0) return '';
  const trouble = retried > 0 ? retries(retried) : failures > 0 ? `${failures} failed` : '';
  return [pluralize(calls, 'call'), trouble].filter((part) => part !== '').join(' · ');
}

/** The heat of a state: its figure, or how much the figures of two sets differ, in relation to the largest figure. */
function heatOf(
  { charts }: RunCharts,
  sets: readonly RunSet[] | null,
  alone: StateNumbers,
  name: MeasureName,
): Overlay {
  const all = charts.flatMap(({ states }) => states);
  const parents = new Set(all.map(({ parent }) => parent));
  // A phase is colored as a whole; the states around the phases are not.
  const outer = new Set(all.flatMap(({ id, parent }) => (parent === null ? [id] : parents.has(id) ? [parent] : [])));
  const [a, b] = sets ?? [];
  const most = new Map<string, number>();
  const marks = marksOf(a?.numbers ?? alone, (measure, key, state) => {
    const one = figureOf(name, measure, a?.runs.length ?? null);
    const other = b === undefined ? null : figureOf(name, b.numbers[key]?.get(state) ?? NOTHING, b.runs.length);
    if (outer.has(state)) return { heat: 0, text: pairText(one.text, other?.text) };
    most.set(key, Math.max(most.get(key) ?? Number.MIN_VALUE, one.value, other?.value ?? 0));
    if (other === null) return { heat: one.value, text: one.text };
    const isEmpty = a?.runs.length === 0 || b?.runs.length === 0;
    const heat = isEmpty ? 0 : Math.abs(one.value - other.value);
    return { heat, text: pairText(one.text, other.text), isHigherInB: other.value > one.value };
  });
  // A difference is small in relation to the figures.
  const scaled = b === undefined ? (heat: number) => heat : Math.sqrt;
  for (const [key, states] of Object.entries(marks))
    for (const mark of states.values()) Object.assign(mark, { heat: scaled(mark.heat / (most.get(key) ?? 1)) });
  return marks;
}

/** Two figures fit into a state without their unit. */
const pairText = (one: string, other: string | undefined): string =>
  other === undefined || one === other ? one : `${one || '–'} | ${other || '–'}`.replace(/ tokens?\b/gu, '');

/** Smaller differences between two sets are not marked. */
const MIN_DIFFERENCE = 0.03;

function marksOfSets({ charts }: RunCharts, sets: readonly RunSet[]): Marks {
  const setTotals = sets.map(({ runs }) => allTotals(runs));
  const taken = charts.map(({ id, transitions }) => {
    const counts = transitions.map(
      (_, index) => [index, runsThatTook([...new Set(setTotals.flat())], id, [index])] as const,
    );
    return [id, new Map(counts.filter(([, count]) => count > 0))] as const;
  });
  return {
    isSum: true,
    active: {},
    where: {},
    last: null,
    taken: Object.fromEntries(taken),
    lineShares(chartId, transitions) {
      const shares = setTotals.map((own) => runsThatTook(own, chartId, transitions) / Math.max(1, own.length));
      const [a = 0, b] = setTotals.some((own) => own.length === 0) ? [Math.max(...shares)] : shares;
      const share = Math.max(...shares);
      // Short, because a label has little room.
      const text = share === 1 ? 'all' : formatShare(share);
      if (b === undefined) return { share, text, words: `${formatShare(a)} of the runs`, side: null };
      const described = `${formatShare(a)} of A, ${formatShare(b)} of B`;
      if (Math.abs(a - b) < MIN_DIFFERENCE) return { share, text, words: described, side: 'even' };
      const points = Math.round(100 * Math.abs(a - b));
      return { share, text: `${a > b ? 'A' : 'B'}+${points}`, words: described, side: a > b ? 'a' : 'b' };
    },
  };
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
