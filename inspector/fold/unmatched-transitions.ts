import { eventMatches } from '../../src/durable/charts/taken-transitions.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { ancestorsOf, chartIndexOf, type IndexedChart } from './chart-index.ts';
import type { TransitionLog } from './transition-log.ts';
import { transitionLookup } from './transition-lookup.ts';

/** Entries that took transitions of a chart: by machine, then by index in the chart. */
type Entries = ReadonlyMap<string, ReadonlyMap<number, readonly number[]>>;

interface Reading {
  readonly charts: RunCharts;
  readonly found: Map<string, Map<number, number[]>>;
  /** By transition: how many of its entries were read. */
  readonly read: Map<object, number>;
}

const known = new WeakMap<TransitionLog, Reading>();

/**
 * The transitions behind entries that name only the states before and after, as those of other systems of actors do: one event may move
 * several parallel regions. Reads only entries added since the last call.
 */
export function unmatchedTransitions(log: TransitionLog, charts: RunCharts): Entries {
  const cached = known.get(log);
  const reading: Reading = cached?.charts === charts ? cached : { charts, found: new Map(), read: new Map() };
  known.set(log, reading);
  const lookup = transitionLookup(charts.charts);
  for (const recorded of log.distinct) {
    const chart = chartIndexOf(charts).chart(recorded.machine);
    if (chart === undefined || recorded.target.length === 0 || lookup.indexOf(recorded) !== null) continue;
    for (const seq of recorded.seqs.slice(reading.read.get(recorded) ?? 0)) {
      const before = chart.entered(log.positionAt(recorded.machine, seq - 1)?.targets ?? []);
      for (const index of movesTo(chart, recorded, before.active)) {
        const own = reading.found.get(recorded.machine) ?? new Map<number, number[]>();
        reading.found.set(recorded.machine, own);
        const seqs = own.get(index) ?? [];
        own.set(index, seqs);
        seqs.push(seq);
      }
    }
    reading.read.set(recorded, recorded.seqs.length);
  }
  return reading.found;
}

/** The transitions from an active state to a state that was entered: the first of each source. */
function movesTo(
  chart: IndexedChart,
  { event, target }: { readonly event: string; readonly target: readonly string[] },
  before: ReadonlySet<string>,
): readonly number[] {
  const entered = new Set(target.flatMap((leaf) => ancestorsOf(chart, leaf)).map(({ id }) => id));
  return [...before].flatMap((source) => {
    const taken = chart
      .transitionsFrom(source)
      .find(
        (transition) =>
          transition.target.length > 0 &&
          eventMatches(transition.event, event, source) &&
          transition.target.every((id) => entered.has(id)) &&
          transition.target.some((id) => !before.has(id)),
      );
    return taken === undefined ? [] : [taken.index];
  });
}
