import type { AnyMachineSnapshot, AnyStateMachine, AnyTransitionDefinition, InspectionEvent } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { Chart } from '../../engine/charts/chart.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { reachedItems } from '../properties/chart.ts';
import { type ChartToCover, type CoveredItem, chartToCover } from './chart-to-cover.ts';
import { withoutThoseThatGaveWay } from './gave-way.ts';
import { refusedIn } from './refused.ts';

export interface MachineCoverage {
  readonly machine: string;
  readonly chart: Chart;
  readonly items: readonly CoveredItem[];
}

/** What of charts runs bring about: of tests, by watching their actors; of recorded runs, by their journals; of explorations. */
export interface CoverageCollector {
  /** For `createActor(machine, { inspect })`: of the actor, and of all in its system. */
  readonly inspect: (event: InspectionEvent) => void;
  addJournal(entries: Iterable<JournalEntry>): void;
  addExploration(exploration: Exploration): void;
  coverage(): readonly MachineCoverage[];
}

/** The machine that each attempt begins anew. */
const ATTEMPT = 'attempt';

type Microstep = Extract<InspectionEvent, { readonly type: '@xstate.microstep' }>;

/**
 * Collects over machines, which are known by their ids. Guards that said no are told by nobody: of a watched actor they are known by the order
 * in which XState asks; of a journal, those that were passed by for another candidate (see `CoverageItem.isTold`).
 */
export function collectCoverage(machines: readonly AnyStateMachine[]): CoverageCollector {
  const charts = new Map(machines.map((machine) => [machine.id, chartToCover(machine)]));
  const stood = new WeakMap<object, AnyMachineSnapshot>();

  function stepped({ actorRef, event, snapshot, _transitions: enabled }: Microstep): void {
    const chart = charts.get((snapshot as AnyMachineSnapshot).machine?.id ?? '');
    if (chart === undefined) return;
    const before = stood.get(actorRef);
    stood.set(actorRef, snapshot as AnyMachineSnapshot);
    if (before === undefined) chart.begins();
    if (event.type === 'xstate.stop') return;
    const taken = withoutThoseThatGaveWay(enabled, before);
    for (const transition of taken) chart.took(placeIn(chart, transition), event.type, before === undefined);
    if (before === undefined) return;
    const asked = enabled.length > 0 && enabled.every(({ eventType }) => eventType === '') ? '' : event.type;
    chart.refused([...refusedIn(before, asked, enabled)].map((transition) => placeIn(chart, transition)));
  }

  /** Where a machine rests, all that would be taken at once said no. */
  function rested(actor: object, snapshot: AnyMachineSnapshot): void {
    const chart = charts.get(snapshot.machine?.id ?? '');
    if (chart === undefined || snapshot.status !== 'active') return;
    // It did nothing as it began, or goes on where another left off.
    if (!stood.has(actor)) chart.stands(snapshot);
    stood.set(actor, snapshot);
    chart.refused([...refusedIn(snapshot, '', [])].map((transition) => placeIn(chart, transition)));
  }

  return {
    inspect(event) {
      if (event.type === '@xstate.microstep') stepped(event);
      if (event.type === '@xstate.snapshot') rested(event.actorRef, event.snapshot as AnyMachineSnapshot);
    },
    addJournal(entries) {
      for (const entry of entries)
        if (entry.type === 'transition') charts.get(entry.machine)?.tookAsTold(entry);
        else if (entry.type === 'attempt-start') charts.get(ATTEMPT)?.begins();
    },
    addExploration(exploration) {
      charts.get(exploration.machine.id)?.note(reachedItems(exploration));
    },
    coverage: () => [...charts].map(([machine, { chart, items }]) => ({ machine, chart, items: items() })),
  };
}

function placeIn({ placeAt }: ChartToCover, transition: AnyTransitionDefinition): number | null {
  const { source, eventType } = transition;
  const group = eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
  return placeAt(source.id, eventType, group.indexOf(transition));
}
