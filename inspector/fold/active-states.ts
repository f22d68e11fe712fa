import type { RunCharts } from '../../src/inspection/wire.ts';
import type { StateRef } from './chart-copies.ts';
import { chartIndexOf, type IndexedChart, type RecordedStates } from './chart-index.ts';
import { lastUpTo } from './sorted.ts';
import type { MachinePosition, TransitionLog } from './transition-log.ts';

/**
 * The configuration of all charts at an entry, by chart id: the active states with their ancestors, the innermost ones, and the state of
 * another chart that invoked this one. A chart without a running machine is left out. Takes a few binary searches, however long the run is.
 */
export function activeStatesAt(transitions: TransitionLog, charts: RunCharts, at: number) {
  const { all, invoked } = chartIndexOf(charts);
  const nested = new Set(invoked.values());
  const active: Record<string, ReadonlySet<string>> = {};
  const leaf: Record<string, readonly string[]> = {};
  const insideOf: Record<string, StateRef> = {};

  function enter({ id: chartId, invoking }: IndexedChart, { configuration, targets, from }: Entered): void {
    active[chartId] = configuration.active;
    leaf[chartId] = configuration.leaves;
    for (const { id: stateId, invokes } of invoking) {
      if (!configuration.active.has(stateId)) continue;
      for (const name of invokes) {
        const inner = invoked.get(name);
        if (inner === undefined || (active[inner.id]?.size ?? 0) > 0) continue;
        // A state that has states of its own is entered only by a transition to itself.
        const isEntered = configuration.leaves.includes(stateId) || targets.includes(stateId);
        insideOf[inner.id] = { chartId, stateId };
        enter(inner, innerConfiguration(transitions, inner, isEntered ? from : -1, at));
      }
    }
  }

  for (const [index, chart] of all.entries()) {
    if (index > 0 && nested.has(chart)) continue;
    const position = transitions.positionAt(chart.id, at);
    if (index > 0 && position === undefined) continue;
    enter(chart, enteredBy(chart, position));
  }
  return { active, leaf, insideOf };
}

/** The configuration of a machine inside a state entered at `entered` (-1 if unknown). */
function innerConfiguration(transitions: TransitionLog, chart: IndexedChart, entered: number, at: number) {
  const position = transitions.positionAt(chart.id, at);
  if (position === undefined || !isOfCurrentInvocation(transitions, position, entered))
    return enteredBy(chart, undefined, entered);
  return enteredBy(chart, position);
}

interface Entered {
  readonly configuration: RecordedStates;
  readonly targets: readonly string[];
  readonly from: number;
}

function enteredBy(chart: IndexedChart, position: MachinePosition | undefined, otherwise = 0): Entered {
  const { targets, since } = position ?? { targets: [], since: otherwise };
  return { configuration: chart.entered(targets), targets, from: since };
}

/**
 * Whether a machine's last transition belongs to its current invocation: it is later than the entry of the invoking
 * state, or an initial step recorded right before it.
 */
function isOfCurrentInvocation(
  { seqs }: TransitionLog,
  { since, isInitial }: MachinePosition,
  entered: number,
): boolean {
  return since > entered || (isInitial && lastUpTo(seqs, entered - 1) === since);
}
