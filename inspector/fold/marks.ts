import type { Chart } from '../../src/durable/charts/chart.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { copyKey, type StateRef } from './chart-copies.ts';
import { ancestorsOf, chartIndexOf, type IndexedChart, indexChart } from './chart-index.ts';
import { countUpTo, lastUpTo } from './sorted.ts';
import { INIT, type RecordedTransition, type TransitionLog } from './transition-log.ts';

/** Distinguishes the copies of an invoked chart by the state that had invoked it at an entry. */
type ChartCopies = ReturnType<typeof createCopies>;

const known = new WeakMap<TransitionLog, ChartCopies>();

function chartCopiesOf(log: TransitionLog, charts: RunCharts): ChartCopies {
  const cached = known.get(log);
  const copies = cached?.charts === charts ? cached : createCopies(log, charts);
  known.set(log, copies);
  copies.catchUp();
  return copies;
}

function hostedIn(charts: RunCharts, chart: IndexedChart, targets: readonly string[], seq: number) {
  const { invoked } = chartIndexOf(charts);
  const { active } = chart.entered(targets);
  return chart.invoking.flatMap(({ id: stateId, invokes }) =>
    (active.has(stateId) ? invokes : []).flatMap((name) => {
      const inner = invoked.get(name)?.id;
      return inner === undefined ? [] : [{ inner, seq, copy: copyKey(inner, { chartId: chart.id, stateId }) }];
    }),
  );
}

function createCopies(log: TransitionLog, charts: RunCharts) {
  const hosts = new Map<string, { readonly seqs: number[]; readonly copies: string[] }>();
  const read = new Map<string, number>();
  const split = new WeakMap<RecordedTransition, { count: number; readonly byCopy: Map<string, number[]> }>();

  /** The key of the copy that ran at an entry; the chart's id if nothing invokes it. */
  function copyAt(chartId: string, seq: number): string {
    const own = hosts.get(chartId);
    if (own === undefined) return chartId;
    return own.copies[Math.max(0, countUpTo(own.seqs, seq) - 1)] ?? chartId;
  }

  return {
    charts,
    /** Reads the entries that were added since the last call. */
    catchUp(): void {
      const found: ReturnType<typeof hostedIn> = [];
      for (const chart of chartIndexOf(charts).all) {
        if (chart.invoking.length === 0) continue;
        const positions = log.positionsOf(chart.id);
        const from = read.get(chart.id);
        // Before its first position, a machine is in its initial states.
        if (from === undefined) found.push(...hostedIn(charts, chart, [], -1));
        for (const { targets, since } of positions.slice(from)) found.push(...hostedIn(charts, chart, targets, since));
        read.set(chart.id, positions.length);
      }
      for (const { inner, seq, copy } of found.sort((one, other) => one.seq - other.seq)) {
        const own = hosts.get(inner) ?? { seqs: [], copies: [] };
        hosts.set(inner, own);
        own.seqs.push(seq);
        own.copies.push(copy);
      }
    },
    seqsByCopy(transition: RecordedTransition): ReadonlyMap<string, readonly number[]> {
      const known = split.get(transition) ?? { count: 0, byCopy: new Map<string, number[]>() };
      split.set(transition, known);
      for (; known.count < transition.seqs.length; known.count += 1) {
        const seq = transition.seqs[known.count] ?? 0;
        // Initial steps are recorded right before the entry of the state that invokes the machine.
        const copy = copyAt(transition.machine, transition.event === INIT ? seq + 1 : seq);
        const seqs = known.byCopy.get(copy) ?? [];
        known.byCopy.set(copy, seqs);
        seqs.push(seq);
      }
      return known.byCopy;
    },
  };
}

export interface Marks {
  /** Active states by chart, including ancestors. A chart that is not running has none. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * The invoking state of each running inner chart, for example `{ attempt: { chartId: 'actionLoop', stateId:
   * 'actionLoop.classifying' } }`. An inner chart is highlighted only inside this state.
   */
  readonly where: Readonly<Record<string, StateRef>>;
  /** How often each transition was taken up to the entry: by chart and by copy (`copyKey`), then by index in the chart. */
  readonly taken: Readonly<Record<string, ReadonlyMap<number, number>>>;
  readonly last: LastTransition | null;
  /** The innermost state that a transition of a state around it last left, by chart and by the index of the transition. */
  readonly left: Readonly<Record<string, ReadonlyMap<number, string>>>;
  /** States that were last left because of a failure, and not entered since, by chart or copy. */
  readonly failed: Readonly<Record<string, ReadonlySet<string>>>;
}

interface LastTransition {
  readonly chartId: string;
  /** Its index in the chart; null if unknown, then the ends identify it. */
  readonly transition: number | null;
  /** The source if it has no target. */
  readonly target: string;
}

/** The active states, the transitions so far and the latest one at an entry; failures are of the whole run. */
export function marksAt(transitions: TransitionLog, charts: RunCharts, at: number): Marks {
  const { active, insideOf } = activeStatesAt(transitions, charts, at);
  const taken: Record<string, Map<number, number>> = {};
  const left: Record<string, Map<number, string>> = {};
  let last: LastTransition | null = null;
  let newest = -1;
  const copies = chartCopiesOf(transitions, charts);
  const exits = new Map<string, Map<string, Exit>>();
  for (const transition of transitions.distinct) {
    const chart = chartIndexOf(charts).chart(transition.machine);
    const index = chart?.indexOf(transition) ?? null;
    const add = (key: string, seqs: readonly number[]): void => {
      const times = countUpTo(seqs, at);
      if (index === null || times === 0) return;
      taken[key] ??= new Map();
      taken[key]?.set(index, (taken[key]?.get(index) ?? 0) + times);
    };
    add(transition.machine, transition.seqs);
    for (const [copy, seqs] of copies.seqsByCopy(transition)) {
      if (copy !== transition.machine) add(copy, seqs);
      const own = exits.get(copy) ?? new Map<string, Exit>();
      exits.set(copy, own);
      if (chart !== undefined && index !== null) leave(own, chart, index, seqs.at(-1) ?? -1);
    }
    const created = lastUpTo(transition.seqs, at) ?? -1;
    const { machine, source, target } = transition;
    if (chart !== undefined && index !== null && created >= 0 && chart.childrenOf(source).length > 0) {
      const { leaves } = chart.entered(transitions.positionAt(machine, created - 1)?.targets ?? []);
      const [leaf = source] = leaves.filter((id) => chart.isInside(id, source));
      left[machine] = (left[machine] ?? new Map<number, string>()).set(index, leaf);
    }
    if (created <= newest) continue;
    newest = created;
    last = { chartId: machine, transition: index, target: target[0] ?? source };
  }
  const failed = [...exits].map(
    ([copy, own]) => [copy, new Set([...own].flatMap(([id, { isFailure }]) => (isFailure ? [id] : [])))] as const,
  );
  return { active, where: insideOf, taken, last, left, failed: Object.fromEntries(failed) };
}

/** The active states, and those that the transitions that were taken left or entered, with the states around them. */
export function visitedStates(
  chart: Chart,
  taken: Pick<ReadonlySet<number>, 'keys'>,
  active: ReadonlySet<string>,
): ReadonlySet<string> {
  const index = indexChart(chart);
  const ways = [...taken.keys()].flatMap((at) => chart.transitions[at] ?? []);
  return new Set([
    ...active,
    ...ways.flatMap(({ source }) => ancestorsOf(index, source).map(({ id }) => id)),
    ...ways.flatMap(({ target }) => (target.length === 0 ? [] : [...index.entered(target).active])),
  ]);
}

interface Exit {
  readonly seq: number;
  readonly isFailure: boolean;
}

/** The state of the built-in chart that handles failed phases. */
const RECOVERING = 'recovering';

/** Notes that a transition left its source, and the states around it that do not contain its target, and entered others. */
function leave(own: Map<string, Exit>, chart: IndexedChart, index: number, seq: number): void {
  const transition = chart.transitions[index];
  if (transition === undefined || transition.target.length === 0) return;
  const isFailure = transition.event === 'error' || transition.target.includes(RECOVERING);
  const around = new Set(transition.target.flatMap((id) => ancestorsOf(chart, id)).map(({ id }) => id));
  const note = (id: string, failed: boolean): void => {
    if ((own.get(id)?.seq ?? -1) < seq) own.set(id, { seq, isFailure: failed });
  };
  for (const { id } of ancestorsOf(chart, transition.source)) if (!around.has(id)) note(id, isFailure);
  for (const id of chart.entered(transition.target).active) note(id, false);
}
