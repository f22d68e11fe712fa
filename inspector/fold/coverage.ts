import type { Chart } from '../../src/durable/charts/chart.ts';
import {
  isRecorded,
  transitionFinder,
  type TakenTransition as WayOfChart,
} from '../../src/durable/charts/taken-transitions.ts';
import type { TransitionLog } from './transition-log.ts';

/** The transitions taken and not taken, as indexes in `Chart.transitions`, by chart id. */
export interface Coverage {
  readonly taken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly neverTaken: Readonly<Record<string, ReadonlySet<number>>>;
  readonly takenCount: number;
  /** The number of transitions a journal records. */
  readonly all: number;
}

/** The entry that first took each transition: by chart id, then by index in `Chart.transitions`. */
export type Taken = Readonly<Record<string, ReadonlyMap<number, number>>>;

/** The transitions that a run took up to an entry. */
export function takenBy(
  charts: readonly Chart[],
  { transitions, until }: { readonly transitions: TransitionLog; readonly until: number },
): Taken {
  const lookup = transitionLookup(charts);
  const taken: Record<string, Map<number, number>> = {};
  for (const transition of transitions.distinct) {
    const first = transition.seqs[0] ?? Number.POSITIVE_INFINITY;
    const index = first <= until ? lookup.indexOf(transition) : null;
    if (index === null) continue;
    taken[transition.machine] ??= new Map();
    taken[transition.machine]?.set(index, Math.min(first, taken[transition.machine]?.get(index) ?? first));
  }
  return taken;
}

/** The coverage of runs on the same charts. */
export function coverageOf(charts: readonly Chart[], runs: readonly Taken[]): Coverage {
  const taken = Object.fromEntries(
    charts.map(({ id }) => [id, new Set(runs.flatMap((run) => [...(run[id]?.keys() ?? [])]))]),
  );
  const neverTaken: Record<string, Set<number>> = {};
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
