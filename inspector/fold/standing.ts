import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartBook, type OpenChart, type Stand } from './chart-index.ts';
import { lastUpTo } from './sorted.ts';
import type { MachineStanding, TransitionLog } from './transition-log.ts';

/** The configuration of all charts at an entry, by chart id. A chart without a running machine has no active states. */
export interface Standing {
  /** The innermost states with all that are around them, the roots too. */
  readonly active: Readonly<Record<string, ReadonlySet<string>>>;
  readonly leaf: Readonly<Record<string, readonly string[]>>;
  /** The state of another chart that invoked this one; null if there is none. */
  readonly insideOf: Readonly<Record<string, { readonly chartId: string; readonly stateId: string } | null>>;
}

const NOWHERE: Stand = { leaves: [], active: new Set(), possible: [] };

/** What is the same of charts at every entry. */
interface Layout {
  readonly all: readonly OpenChart[];
  /** By the name that a state invokes it by. */
  readonly byName: ReadonlyMap<string, OpenChart>;
  readonly nested: ReadonlySet<string>;
  readonly alone: Standing['insideOf'];
  readonly empty: Pick<Standing, 'active' | 'leaf'>;
}

const layouts = new WeakMap<RunCharts, Layout>();

function layoutOf(charts: RunCharts): Layout {
  const there = layouts.get(charts);
  if (there !== undefined) return there;
  const { all, chart: chartOf } = chartBook(charts);
  const { invoked } = charts;
  const forEach = <Value>(value: Value) => Object.fromEntries(all.map(({ id }) => [id, value]));
  const layout = {
    all,
    byName: new Map(
      Object.entries(invoked).flatMap(([name, id]) => {
        const chart = chartOf(id);
        return chart === undefined ? [] : [[name, chart] as const];
      }),
    ),
    nested: new Set(Object.values(invoked)),
    alone: forEach(null),
    empty: { active: forEach(NOWHERE.active), leaf: forEach(NOWHERE.leaves) },
  };
  layouts.set(charts, layout);
  return layout;
}

/** Costs a few searches in sorted lists, however long the run is. */
export function standingAt(transitions: TransitionLog, charts: RunCharts, at: number): Standing {
  const { all, byName, nested, alone, empty } = layoutOf(charts);
  const active: Record<string, ReadonlySet<string>> = { ...empty.active };
  const leaf: Record<string, readonly string[]> = { ...empty.leaf };
  const insideOf: Record<string, { readonly chartId: string; readonly stateId: string } | null> = { ...alone };

  /** A chart that runs, and what runs inside its active states. */
  function goInto({ id: chartId, asking }: OpenChart, stand: Stand, since: number): void {
    active[chartId] = stand.active;
    leaf[chartId] = stand.leaves;
    for (const { id: stateId, invokes } of asking) {
      if (!stand.active.has(stateId)) continue;
      for (const name of invokes) {
        const inner = byName.get(name);
        if (inner === undefined || (active[inner.id]?.size ?? 0) > 0) continue;
        const { place, from } = innerPlace(transitions, inner, stand.leaves.includes(stateId) ? since : -1, at);
        insideOf[inner.id] = { chartId, stateId };
        goInto(inner, place, from);
      }
    }
  }

  for (const [place, chart] of all.entries()) {
    if (place > 0 && nested.has(chart.id)) continue;
    const stands = transitions.standingAt(chart.id, at);
    if (place > 0 && stands === undefined) continue;
    goInto(chart, chart.entered(stands?.targets ?? []), stands?.since ?? 0);
  }
  return { active, leaf, insideOf };
}

/** The configuration of a machine inside a state entered at `entered` (-1 if unknown). */
function innerPlace(
  transitions: TransitionLog,
  chart: OpenChart,
  entered: number,
  at: number,
): { readonly place: Stand; readonly from: number } {
  const stands = transitions.standingAt(chart.id, at);
  if (stands === undefined || !isOfThisLife(transitions, stands, entered))
    return { place: chart.entered([]), from: entered };
  return { place: chart.entered(stands.targets), from: stands.since };
}

/**
 * Whether a machine's last transition belongs to its current invocation: it is later than the entry of the invoking
 * state, or an initial step recorded right before it.
 */
function isOfThisLife({ seqs }: TransitionLog, { since, begins }: MachineStanding, entered: number): boolean {
  return since > entered || (begins && lastUpTo(seqs, entered - 1) === since);
}
