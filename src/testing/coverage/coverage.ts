import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
} from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { type Chart, chartOf } from '../../durable/charts/chart.ts';
import { transitionFinder, wildcardMatches } from '../../durable/charts/taken-transitions.ts';
import { activeNodes, transitionsTaken } from '../../internal/xstate-internals.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { reachedItems } from '../exploration/reached-items.ts';
import { candidateGroups, transitionsOf } from '../structure/chart-structure.ts';
import {
  type CoverageItem,
  coverageItems,
  delayKey,
  guardKey,
  outcomeKey,
  stateKey,
  transitionKey,
} from '../structure/coverage-items.ts';
import { isWithin, statesAtStart, statesEnteredBy, statesLeftBy } from '../structure/entered-states.ts';

/** A part of a chart, and how often it was reached. */
export interface CoveredItem extends CoverageItem {
  readonly times: number;
}

export interface MachineCoverage {
  readonly machine: string;
  readonly chart: Chart;
  readonly items: readonly CoveredItem[];
}

/** Counts which parts of charts are reached by tests (through `inspect`), recorded runs and explorations. */
export interface CoverageCollector {
  /** For `createActor(machine, { inspect })`: counts the actor and all others in its system. */
  readonly inspect: (event: InspectionEvent) => void;
  addJournal(entries: Iterable<JournalEntry>): void;
  addExploration(exploration: Exploration): void;
  coverage(): readonly MachineCoverage[];
}

/** The machine whose start a journal records as `attempt-start`. */
const ATTEMPT = 'attempt';

/**
 * Returns a collector for machines, identified by their ids. XState does not report false guards: for an inspected actor, they are derived from
 * XState's evaluation order; for a journal, from the candidates before the one taken (see `CoverageItem.isRecorded`).
 */
export function collectCoverage(machines: readonly AnyStateMachine[]): CoverageCollector {
  const counters = new Map(machines.map((machine) => [machine.id, createChartCounter(machine)]));
  const lastSnapshots = new WeakMap<object, AnyMachineSnapshot>();

  function onMicrostep(microstep: InspectedMicrostepEvent): void {
    const { actorRef, event, snapshot } = microstep;
    const enabled = transitionsTaken(microstep);
    const counter = counters.get((snapshot as AnyMachineSnapshot).machine?.id ?? '');
    if (counter === undefined) return;
    const before = lastSnapshots.get(actorRef);
    lastSnapshots.set(actorRef, snapshot as AnyMachineSnapshot);
    if (before === undefined) counter.countStart();
    if (event.type === 'xstate.stop') return;
    for (const transition of withoutPreempted(enabled, before))
      counter.countTransition(counter.indexOf(transition), event.type, before === undefined);
    if (before === undefined) return;
    const eventType = enabled.length > 0 && enabled.every((one) => one.eventType === '') ? '' : event.type;
    counter.countFalseGuards(falseGuards(before, eventType, enabled));
  }

  /** When a machine comes to rest, the guards of all its active `always` transitions were false. */
  function onSnapshot(actor: object, snapshot: AnyMachineSnapshot): void {
    const counter = counters.get(snapshot.machine?.id ?? '');
    if (counter === undefined || snapshot.status !== 'active') return;
    // Without a microstep before it, the actor took no transition at its start or was restored from a snapshot.
    if (!lastSnapshots.has(actor)) counter.countActive(snapshot);
    lastSnapshots.set(actor, snapshot);
    counter.countFalseGuards(falseGuards(snapshot, '', []));
  }

  return {
    inspect(event) {
      if (event.type === '@xstate.microstep') onMicrostep(event);
      if (event.type === '@xstate.snapshot') onSnapshot(event.actorRef, event.snapshot as AnyMachineSnapshot);
    },
    addJournal(entries) {
      for (const entry of entries)
        if (entry.type === 'transition') counters.get(entry.machine)?.countJournalEntry(entry);
        else if (entry.type === 'attempt-start') counters.get(ATTEMPT)?.countStart();
    },
    addExploration(exploration) {
      counters.get(exploration.machine.id)?.count(reachedItems(exploration));
    },
    coverage: () => [...counters].map(([machine, { chart, items }]) => ({ machine, chart, items: items() })),
  };
}

type TransitionEntry = Extract<JournalEntry, { readonly type: 'transition' }>;

/** The event type of the steps that a machine takes at its start. */
const INIT = 'xstate.init';

/** Transitions are indexes into its chart; null for an unknown one. */
function createChartCounter(machine: AnyStateMachine) {
  const chart = chartOf(machine);
  const times = new Map<string, number>();
  const groups = candidateGroups(machine);
  const groupByTransition = groups.flatMap((group) => group.candidates.map(() => group));
  const groupByKey = new Map(groups.map((group) => [`${group.node.id} ${group.eventType}`, group]));
  const entered = transitionsOf(machine).map(statesEnteredBy);
  const atStart = statesAtStart(machine);
  const indexOfEntry = transitionFinder(chart);
  const count = (keys: Iterable<string>): void => {
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  };
  /** Looks up the group by state and event, because `machine.provide` creates new transition objects. */
  function indexOf(transition: AnyTransitionDefinition): number | null {
    const { source, eventType } = transition;
    const candidates = eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
    const group = groupByKey.get(`${source.id} ${eventType}`);
    const candidate = candidates.indexOf(transition);
    return group === undefined || candidate < 0 ? null : group.first + candidate;
  }

  /** `event` is the type that occurred, which a wildcard may have matched. */
  function countTransition(index: number | null, event: string, countFalseBefore: boolean): void {
    if (index === null) return;
    const [transition, group] = [chart.transitions[index], groupByTransition[index]];
    if (transition === undefined || group === undefined) return;
    count([transitionKey(index), ...(entered[index] ?? [])]);
    if (countFalseBefore) for (let before = group.first; before < index; before += 1) count([guardKey(before, false)]);
    if (transition.guard !== null) count([guardKey(index, true)]);
    // An `always` transition carries the event of the transition before it, which was counted there.
    if (group.eventType === '') return;
    const [, end, actor] = /^xstate\.(done|error)\.actor\.(.*)$/u.exec(event) ?? [];
    if (actor !== undefined) count([outcomeKey(actor, end === 'done' ? 'done' : 'error')]);
    if (event.startsWith('xstate.after.')) count([delayKey(event)]);
  }

  return {
    chart,
    count,
    countTransition,
    indexOf,
    countStart: (): void => count(atStart),
    countActive: (snapshot: AnyMachineSnapshot): void => count(activeNodes(snapshot).map(({ id }) => stateKey(id))),
    countFalseGuards(transitions: Iterable<AnyTransitionDefinition>): void {
      for (const transition of transitions) {
        const index = indexOf(transition);
        if (index !== null) count([guardKey(index, false)]);
      }
    },
    countJournalEntry({ source, event, target, candidates }: TransitionEntry): void {
      if (event === INIT && atStart.includes(stateKey(source))) count(atStart);
      const guard = candidates.find(({ result }) => result === 'taken')?.guard ?? null;
      countTransition(indexOfEntry({ source, event, target, guard }), event, true);
    },
    items: (): readonly CoveredItem[] =>
      coverageItems(machine).map((item) => ({ ...item, times: times.get(item.key) ?? 0 })),
  };
}

/**
 * Removes preempted transitions. XState's inspection reports all enabled transitions, but of two in parallel regions that exit the same state
 * only one is taken: the first, unless the later one's source is a descendant of the first one's (SCXML, `removeConflictingTransitions`).
 */
function withoutPreempted(
  enabled: readonly AnyTransitionDefinition[],
  before: AnyMachineSnapshot | undefined,
): readonly AnyTransitionDefinition[] {
  if (enabled.length < 2 || before === undefined) return enabled;
  const active = activeNodes(before);
  let kept: readonly AnyTransitionDefinition[] = [];
  for (const one of enabled) {
    const left = new Set(statesLeftBy(one, active));
    const conflicting = kept.filter((other) => statesLeftBy(other, active).some((node) => left.has(node)));
    const isInner = conflicting.every((other) => one.source !== other.source && isWithin(one.source, other.source));
    if (isInner) kept = [...kept.filter((other) => !conflicting.includes(other)), one];
  }
  return kept;
}

/**
 * Returns the guarded candidates that XState evaluated to false, for an event or (empty type) for `always`: those before the transitions taken,
 * from each innermost active state outwards, or all if none was taken. If only one of several parallel regions took a transition, the
 * candidates of the others are left out: they may have been preempted.
 */
function falseGuards(
  snapshot: AnyMachineSnapshot,
  eventType: string,
  taken: readonly AnyTransitionDefinition[],
): ReadonlySet<AnyTransitionDefinition> {
  const result = new Set<AnyTransitionDefinition>();
  for (const leaf of activeNodes(snapshot)) {
    if (Object.keys(leaf.states).length > 0) continue;
    const candidates = candidatesFrom(leaf, eventType);
    const end = candidates.findIndex((candidate) => taken.includes(candidate));
    if (end < 0 && taken.length > 0) continue;
    for (const candidate of end < 0 ? candidates : candidates.slice(0, end))
      if (candidate.guard !== undefined) result.add(candidate);
  }
  return result;
}

function candidatesFrom(leaf: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const candidates: AnyTransitionDefinition[] = [];
  for (let node: AnyStateNode | undefined = leaf; node !== undefined; node = node.parent)
    candidates.push(...(eventType === '' ? (node.always ?? []) : candidatesOf(node, eventType)));
  return candidates;
}

/** Exact matches first, then wildcards, the longest first. */
function candidatesOf({ transitions }: AnyStateNode, eventType: string): readonly AnyTransitionDefinition[] {
  const exact = transitions.get(eventType) ?? [];
  const wildcards = [...transitions.keys()].filter((name) => name !== eventType && wildcardMatches(name, eventType));
  return [
    ...exact,
    ...wildcards.sort((one, other) => other.length - one.length).flatMap((name) => transitions.get(name) ?? []),
  ];
}
