import type { Chart } from '../../src/durable/charts/chart.ts';
import { transitionFinder, type TakenTransition as WayOfChart } from '../../src/durable/charts/taken-transitions.ts';

interface Way extends WayOfChart {
  readonly machine: string;
}

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
