import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartIndexOf, type IndexedChart } from './chart-index.ts';
import { countUpTo } from './sorted.ts';
import type { RecordedTransition, TransitionLog } from './transition-log.ts';

export interface StateRef {
  readonly chartId: string;
  readonly stateId: string;
}

/** Identifies an invoked chart together with the state that invokes it: each such copy has its own marks and measures. */
export const copyKey = (chartId: string, { chartId: hostChart, stateId }: StateRef): string =>
  JSON.stringify([chartId, hostChart, stateId]);

/** Tells the copies of an invoked chart apart: which state had invoked it when something happened. */
export interface ChartCopies {
  /** The key of the copy that ran at an entry; the chart's id if nothing invokes it. */
  copyAt(chartId: string, seq: number): string;
  seqsByCopy(transition: RecordedTransition): ReadonlyMap<string, readonly number[]>;
}

interface Hosts {
  readonly seqs: number[];
  readonly copies: string[];
}

const known = new WeakMap<
  TransitionLog,
  { readonly charts: RunCharts; readonly copies: ChartCopies & { catchUp(): void } }
>();

/** The copies of a run's charts so far; reads only entries added since the last call. */
export function chartCopiesOf(log: TransitionLog, charts: RunCharts): ChartCopies {
  const cached = known.get(log);
  const copies = cached?.charts === charts ? cached.copies : createCopies(log, charts);
  known.set(log, { charts, copies });
  copies.catchUp();
  return copies;
}

/** The event of a machine's initial steps: recorded right before the entry of the state that invokes it. */
const INIT = 'xstate.init';

interface Hosted {
  readonly inner: string;
  readonly seq: number;
  readonly copy: string;
}

function hostedIn(
  chart: IndexedChart,
  targets: readonly string[],
  seq: number,
  { invoked }: RunCharts,
): readonly Hosted[] {
  const { active } = chart.entered(targets);
  return chart.invoking.flatMap(({ id: stateId, invokes }) =>
    (active.has(stateId) ? invokes : []).flatMap((name) => {
      const inner = Object.hasOwn(invoked, name) ? invoked[name] : undefined;
      return inner === undefined ? [] : [{ inner, seq, copy: copyKey(inner, { chartId: chart.id, stateId }) }];
    }),
  );
}

function createCopies(log: TransitionLog, charts: RunCharts): ChartCopies & { catchUp(): void } {
  const hosts = new Map<string, Hosts>();
  const read = new Map<string, number>();
  const split = new WeakMap<RecordedTransition, { count: number; readonly byCopy: Map<string, number[]> }>();

  function copyAt(chartId: string, seq: number): string {
    const own = hosts.get(chartId);
    if (own === undefined) return chartId;
    return own.copies[Math.max(0, countUpTo(own.seqs, seq) - 1)] ?? chartId;
  }

  return {
    copyAt,
    catchUp() {
      const found: Hosted[] = [];
      for (const chart of chartIndexOf(charts).all) {
        if (chart.invoking.length === 0) continue;
        const positions = log.positionsOf(chart.id);
        const from = read.get(chart.id);
        // Before its first position, a machine is in its initial states.
        if (from === undefined) found.push(...hostedIn(chart, [], -1, charts));
        for (const { targets, since } of positions.slice(from)) found.push(...hostedIn(chart, targets, since, charts));
        read.set(chart.id, positions.length);
      }
      for (const { inner, seq, copy } of found.sort((one, other) => one.seq - other.seq)) {
        const own = hosts.get(inner) ?? { seqs: [], copies: [] };
        hosts.set(inner, own);
        own.seqs.push(seq);
        own.copies.push(copy);
      }
    },
    seqsByCopy(transition) {
      const known = split.get(transition) ?? { count: 0, byCopy: new Map<string, number[]>() };
      split.set(transition, known);
      for (; known.count < transition.seqs.length; known.count += 1) {
        const seq = transition.seqs[known.count] ?? 0;
        const copy = copyAt(transition.machine, transition.event === INIT ? seq + 1 : seq);
        const seqs = known.byCopy.get(copy) ?? [];
        known.byCopy.set(copy, seqs);
        seqs.push(seq);
      }
      return known.byCopy;
    },
  };
}
