import type { Chart } from '../../src/engine/charts/chart.ts';
import {
  isRecorded,
  transitionFinder,
  type TakenTransition as WayOfChart,
} from '../../src/engine/charts/taken-transitions.ts';
import type { TransitionLog } from './transition-log.ts';

/** The transitions taken and not taken, as indexes in `Chart.transitions`, by chart id. */
export interface Coverage {
  readonly taken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly neverTaken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly takenCount: number;
  /** The number of transitions a journal records. */
  readonly all: number;
}

/** The coverage of runs on the same charts, each up to an entry. */
export function coverageOf(
  charts: readonly Chart[],
  runs: readonly { readonly transitions: TransitionLog; readonly until: number }[],
): Coverage {
  const lookup = transitionLookup(charts);
  const taken: Record<string, Set<number>> = {};
  const neverTaken: Record<string, Set<number>> = {};
  for (const { id } of charts) taken[id] = new Set();
  for (const { transitions, until } of runs)
    for (const transition of transitions.distinct) {
      const index = (transition.seqs[0] ?? Number.POSITIVE_INFINITY) <= until ? lookup.indexOf(transition) : null;
      if (index !== null) taken[transition.machine]?.add(index);
    }
  let [takenCount, all] = [0, 0];
  for (const { id, transitions } of charts) {
    const recorded = transitions.flatMap((transition, index) => (isRecorded(transition) ? [index] : []));
    neverTaken[id] = new Set(recorded.filter((index) => !taken[id]?.has(index)));
    all += recorded.length;
    takenCount += recorded.length - neverTaken[id].size;
  }
  return { taken, neverTaken, takenCount, all };
}

/** A transition as recorded in the journal. */
interface Way extends WayOfChart {
  readonly machine: string;
}

/** Maps recorded transitions to transitions of the charts. */
interface TransitionLookup {
  /** Its index in `Chart.transitions` of the machine's chart; null if the chart has no such transition. */
  indexOf(transition: Way): number | null;
}

const known = new WeakMap<readonly Chart[], TransitionLookup>();

/** Cached per list of charts; each transition is resolved once. */
export function transitionLookup(charts: readonly Chart[]): TransitionLookup {
  const cached = known.get(charts) ?? createTransitionLookup(charts);
  known.set(charts, cached);
  return cached;
}

function createTransitionLookup(charts: readonly Chart[]): TransitionLookup {
  const byId = new Map(charts.map((chart) => [chart.id, transitionFinder(chart)]));
  const found = new WeakMap<Way, number | null>();
  return {
    indexOf(transition) {
      const cached = found.get(transition);
      if (cached !== undefined) return cached;
      const index = byId.get(transition.machine)?.(transition) ?? null;
      found.set(transition, index);
      return index;
    },
  };
}
