import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
} from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { Chart } from '../../engine/charts/chart.ts';
import { wildcardFits } from '../../engine/charts/taken-transitions.ts';
import { activeNodes, transitionsTaken } from '../../internal/xstate-internals.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { reachedItems } from '../properties/chart.ts';
import { isWithin, leftBy } from '../structure/entered.ts';
import { type ChartToCover, type CoveredItem, chartToCover } from './chart-to-cover.ts';

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

/**
 * Collects over machines, which are known by their ids. Guards that said no are told by nobody: of a watched actor they are known by the order
 * in which XState asks; of a journal, those that were passed by for another candidate (see `CoverageItem.isTold`).
 */
export function collectCoverage(machines: readonly AnyStateMachine[]): CoverageCollector {
  const charts = new Map(machines.map((machine) => [machine.id, chartToCover(machine)]));
  const stood = new WeakMap<object, AnyMachineSnapshot>();

  function stepped(microstep: InspectedMicrostepEvent): void {
    const { actorRef, event, snapshot } = microstep;
    const enabled = transitionsTaken(microstep);
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

/**
 * Those of several transitions that a machine took: XState's inspection tells of all that were enabled, but of two in parallel regions that
 * would leave the same state, one gives way: the later, unless it is further within (SCXML, `removeConflictingTransitions`).
 */
function withoutThoseThatGaveWay(
  enabled: readonly AnyTransitionDefinition[],
  before: AnyMachineSnapshot | undefined,
): readonly AnyTransitionDefinition[] {
  if (enabled.length < 2 || before === undefined) return enabled;
  const active = activeNodes(before);
  let kept: readonly AnyTransitionDefinition[] = [];
  for (const one of enabled) {
    const left = new Set(leftBy(one, active));
    const rivals = kept.filter((other) => leftBy(other, active).some((node) => left.has(node)));
    const isInner = rivals.every((other) => one.source !== other.source && isWithin(one.source, other.source));
    if (isInner) kept = [...kept.filter((other) => !rivals.includes(other)), one];
  }
  return kept;
}

/**
 * The candidates that were asked where a machine stood, for an event or, where its type is empty, for what is taken at once, and said no:
 * those before the ones that were taken, from each innermost state outwards; all where none was. XState does not tell them, but asks in this
 * order. Of a region that took nothing while another did, nothing is said: its transition may have given way.
 */
function refusedIn(
  snapshot: AnyMachineSnapshot,
  eventType: string,
  taken: readonly AnyTransitionDefinition[],
): ReadonlySet<AnyTransitionDefinition> {
  const refused = new Set<AnyTransitionDefinition>();
  for (const leaf of activeNodes(snapshot)) {
    if (Object.keys(leaf.states).length > 0) continue;
    const asked = askedFrom(leaf, eventType);
    const end = asked.findIndex((candidate) => taken.includes(candidate));
    if (end < 0 && taken.length > 0) continue;
    for (const candidate of end < 0 ? asked : asked.slice(0, end))
      if (candidate.guard !== undefined) refused.add(candidate);
  }
  return refused;
}

function askedFrom(leaf: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const asked: AnyTransitionDefinition[] = [];
  for (let node: AnyStateNode | undefined = leaf; node !== undefined; node = node.parent)
    asked.push(...(eventType === '' ? (node.always ?? []) : candidatesFor(node, eventType)));
  return asked;
}

/** An event's own first, then those of what fits it, the longest first. */
function candidatesFor({ transitions }: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const own = transitions.get(eventType) ?? [];
  const fitting = [...transitions.keys()].filter((named) => named !== eventType && wildcardFits(named, eventType));
  return [
    ...own,
    ...fitting.sort((one, other) => other.length - one.length).flatMap((named) => transitions.get(named) ?? []),
  ];
}
