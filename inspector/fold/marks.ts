import type { RunCharts } from '../../src/inspection/wire.ts';
import { activeStatesAt } from './active-states.ts';
import { chartCopiesOf, type StateRef } from './chart-copies.ts';
import { ancestorsOf, chartIndexOf } from './chart-index.ts';
import { countUpTo } from './sorted.ts';
import type { TransitionLog } from './transition-log.ts';
import { transitionLookup } from './transition-lookup.ts';

export interface Marks {
  /** The marks sum whole runs: inner charts are highlighted everywhere, and there is no state to follow. */
  readonly isSum?: boolean;
  /** Active states by chart, including ancestors. A chart that is not running has none. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  /**
   * The invoking state of each running inner chart, for example `{ attempt: { chartId: 'actionLoop', stateId:
   * 'actionLoop.classifying' } }`. An inner chart is highlighted only inside this state.
   */
  readonly where: Readonly<Record<string, StateRef>>;
  /** How often each transition was taken so far: by chart, then by index in the chart. */
  readonly taken: Readonly<Record<string, ReadonlyMap<number, number>>>;
  /** The same for each copy of an invoked chart, by `copyKey`. */
  readonly takenIn?: Readonly<Record<string, ReadonlyMap<number, number>>>;
  readonly last: LastTransition | null;
  /** States that were last left because of a failure, by chart or copy. */
  readonly failed?: Readonly<Record<string, ReadonlySet<string>>>;
  /** Whether the run ended with a complete answer; null while it runs, and if it ended in another way. */
  readonly outcome?: 'completed' | 'degraded' | null;
}

/** A state's overlay: its heat, from 0 to 1, and the text to show. */
export interface HeatMark {
  readonly heat: number;
  readonly text: string;
  /** The state's status for screen readers; by default, whether it is active. */
  readonly words?: string;
}

/** By chart id or, for the copies of an invoked chart, by `copyKey`; then by state id. */
export type Overlay = Readonly<Record<string, ReadonlyMap<string, HeatMark>>>;

interface LastTransition {
  readonly chartId: string;
  /** Its index in the chart; null if unknown, then the ends identify it. */
  readonly transition: number | null;
  readonly source: string;
  /** Equal to the source if it has no target. */
  readonly target: string;
}

/** The marks of a run at an entry: active states, transitions taken so far, and the latest transition. */
export function marksAt(transitions: TransitionLog, charts: RunCharts, at: number): Marks {
  const { active, insideOf } = activeStatesAt(transitions, charts, at);
  const lookup = transitionLookup(charts.charts);
  const taken: Record<string, Map<number, number>> = {};
  const takenIn: Record<string, Map<number, number>> = {};
  let last: LastTransition | null = null;
  let newest = -1;
  const copies = chartCopiesOf(transitions, charts);
  const exits = new Map<string, Map<string, Exit>>();
  for (const transition of transitions.distinct) {
    const times = countUpTo(transition.seqs, at);
    if (times === 0) continue;
    const index = lookup.indexOf(transition);
    const add = (counts: Record<string, Map<number, number>>, key: string, count: number): void => {
      if (index === null || count === 0) return;
      counts[key] ??= new Map();
      counts[key]?.set(index, (counts[key]?.get(index) ?? 0) + count);
    };
    add(taken, transition.machine, times);
    for (const [copy, seqs] of copies.seqsByCopy(transition)) {
      const count = countUpTo(seqs, at);
      if (copy !== transition.machine) add(takenIn, copy, count);
      if (index !== null && count > 0)
        leave(exits, copy, { charts, machine: transition.machine, index, seq: seqs[count - 1] ?? -1 });
    }
    const created = transition.seqs[times - 1] ?? -1;
    if (created <= newest) continue;
    newest = created;
    last = {
      chartId: transition.machine,
      transition: index,
      source: transition.source,
      target: transition.target[0] ?? transition.source,
    };
  }
  return { active, where: hostsIn(insideOf), taken, takenIn, last, failed: failedIn(exits) };
}

interface Exit {
  readonly seq: number;
  readonly isFailure: boolean;
}

/** The state of the built-in chart that handles failed phases. */
const RECOVERING = 'recovering';

/** Notes that a transition left its source, and the states around it that do not contain its target. */
function leave(
  exits: Map<string, Map<string, Exit>>,
  copy: string,
  {
    charts,
    machine,
    index,
    seq,
  }: { readonly charts: RunCharts; readonly machine: string; readonly index: number; readonly seq: number },
): void {
  const chart = chartIndexOf(charts).chart(machine);
  const transition = charts.charts.find(({ id }) => id === machine)?.transitions[index];
  if (chart === undefined || transition === undefined || transition.target.length === 0) return;
  const isFailure = transition.event === 'error' || transition.target.includes(RECOVERING);
  const around = new Set(transition.target.flatMap((id) => ancestorsOf(chart, id)).map(({ id }) => id));
  const own = exits.get(copy) ?? new Map<string, Exit>();
  exits.set(copy, own);
  for (const { id } of ancestorsOf(chart, transition.source))
    if (!around.has(id) && (own.get(id)?.seq ?? -1) < seq) own.set(id, { seq, isFailure });
}

function failedIn(exits: ReadonlyMap<string, ReadonlyMap<string, Exit>>): Record<string, ReadonlySet<string>> {
  return Object.fromEntries(
    [...exits].map(([copy, own]) => [
      copy,
      new Set([...own].flatMap(([id, { isFailure }]) => (isFailure ? [id] : []))),
    ]),
  );
}

function hostsIn(insideOf: Readonly<Record<string, StateRef | null>>): Record<string, StateRef> {
  const where: Record<string, StateRef> = {};
  for (const [chartId, index] of Object.entries(insideOf)) if (index !== null) where[chartId] = index;
  return where;
}
