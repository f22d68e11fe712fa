import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectedMicrostepEvent,
  InspectionEvent,
} from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { chartOf } from '../../durable/charts/chart.ts';
import { transitionFinder } from '../../durable/charts/taken-transitions.ts';
import { describeValue } from '../../internal/describe-value.ts';
import {
  activeNodes,
  type Configuration,
  candidatesFor,
  domainOf,
  initialNodes,
  isInside,
  resolvedTargets,
  transitionsTaken,
  withoutPreempted,
} from '../../internal/xstate-internals.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { reachedItems } from '../exploration/paths.ts';
import { candidateGroups, transitionsOf } from '../structure/chart-structure.ts';
import { coverageItems, delayKey, guardKey, outcomeKey, stateKey, transitionKey } from '../structure/coverage-items.ts';
import type { CoveredItem, MachineCoverage } from './coverage-report.ts';

const statesAtStart = ({ root }: AnyStateMachine): readonly string[] => keysOf(initialNodes(root));

/**
 * Returns the keys of the states that a transition enters: the path from its domain down to its targets, and the initial states of the
 * targets. A history target leads to the states in `history`, or else to its default.
 */
function statesEnteredBy(
  transition: AnyTransitionDefinition,
  history: Configuration['history'] = {},
): readonly string[] {
  const targets = (transition.target ?? []).flatMap((node) => resolvedTargets(node, history));
  if (targets.length === 0) return [];
  const domain = domainOf(transition, targets);
  const entered = new Set<AnyStateNode>();
  for (const node of targets) {
    for (const inner of initialNodes(node)) entered.add(inner);
    for (let outer = node.parent; outer && outer !== domain; outer = outer.parent)
      for (const one of outer.type === 'parallel' ? withOtherRegions(outer, targets) : [outer]) entered.add(one);
    if (node !== domain && domain?.type === 'parallel')
      for (const one of withOtherRegions(domain, targets)) entered.add(one);
  }
  if (domain !== undefined) entered.delete(domain);
  return keysOf(entered);
}

/** A parallel state and the initial states of those of its regions that contain no target. */
const withOtherRegions = (parallel: AnyStateNode, targets: readonly AnyStateNode[]): readonly AnyStateNode[] => [
  parallel,
  ...Object.values(parallel.states)
    .filter(({ type }) => type !== 'history')
    .filter((region) => !targets.some((target) => target === region || isInside(target, region)))
    .flatMap(initialNodes),
];

const keysOf = (nodes: Iterable<AnyStateNode>): readonly string[] => [...nodes].map(({ id }) => stateKey(id));

const MAX_NAMED = 3;

/** Names a machine by its outermost states: all machines without an id have the same. */
function nameByStates({ chart: { id, states } }: MachineCoverage): string {
  const names = states.filter(({ parent }) => parent === id).map(({ name }) => name);
  if (names.length === 0) return id;
  return `${id} ${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', …' : ''}`;
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
 * Returns a collector for machines. A machine is identified by its configuration, which `provide` keeps, otherwise by its id, or by its chart
 * if it has none. XState does not report false guards: for an inspected actor, they are derived from XState's evaluation order; for a
 * journal, from the candidates before the one taken (see `CoverageItem.isRecorded`). Throws `invalid_option` for a machine without a list.
 */
export function collectCoverage(given: readonly AnyStateMachine[]): CoverageCollector {
  if (!Array.isArray(given))
    throw new PostChainError(
      'invalid_option',
      `collectCoverage: expected a list of machines, for example [machine]; received ${describeValue(given)}.`,
    );
  const machines = given.filter(({ config }, at) => given.findIndex((one) => one.config === config) === at);
  const counters = new Map(machines.map((machine) => [machine.config as object, createChartCounter(machine)]));
  const counterNamed = (id: string): ChartCounter | undefined =>
    counters.get(machines.find((machine) => hasId(machine) && machine.id === id)?.config ?? {});
  const found = new WeakMap<object, ChartCounter | null>();
  function counterOf(machine: AnyStateMachine | undefined): ChartCounter | null {
    if (machine === undefined) return null;
    const known = counters.get(machine.config) ?? found.get(machine.config);
    if (known !== undefined) return known;
    const chart = JSON.stringify(chartOf(machine));
    const equal = hasId(machine)
      ? counterNamed(machine.id)
      : [...counters.values()].find((counter) => JSON.stringify(counter.chart) === chart);
    found.set(machine.config, equal ?? null);
    return equal ?? null;
  }
  const lastSnapshots = new WeakMap<object, AnyMachineSnapshot>();

  function onMicrostep(microstep: InspectedMicrostepEvent): void {
    const { actorRef, event, snapshot } = microstep;
    const enabled = transitionsTaken(microstep);
    const counter = counterOf((snapshot as AnyMachineSnapshot).machine);
    if (counter === null) return;
    const before = lastSnapshots.get(actorRef);
    lastSnapshots.set(actorRef, snapshot as AnyMachineSnapshot);
    if (before === undefined) counter.countStart();
    if (event.type === 'xstate.stop') return;
    const taken = before === undefined ? enabled : withoutPreempted(enabled, configurationOf(before));
    const { history } = configurationOf(snapshot as AnyMachineSnapshot);
    for (const transition of taken)
      counter.countTransition(counter.indexOf(transition), {
        event: event.type,
        entered: statesEnteredBy(transition, history),
        countFalseBefore: before === undefined,
      });
    if (before === undefined) return;
    const eventType = enabled.length > 0 && enabled.every((one) => one.eventType === '') ? '' : event.type;
    counter.countFalseGuards(falseGuards(before, eventType, enabled));
  }

  /** When a machine comes to rest, the guards of all its active `always` transitions were false. */
  function onSnapshot(actor: object, snapshot: AnyMachineSnapshot): void {
    const counter = counterOf(snapshot.machine);
    if (counter === null || snapshot.status !== 'active') return;
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
        if (entry.type === 'transition') counterNamed(entry.machine)?.countJournalEntry(entry);
        else if (entry.type === 'attempt-start') counterNamed(ATTEMPT)?.countStart();
    },
    addExploration(exploration) {
      counterOf(exploration.machine)?.count(reachedItems(exploration));
    },
    coverage: () =>
      machines.flatMap((machine) => {
        const { chart, items } = counters.get(machine.config) as ChartCounter;
        const one = { machine: chart.id, chart, items: items() };
        return hasId(machine) ? one : { ...one, machine: nameByStates(one) };
      }),
  };
}

const hasId = ({ config }: AnyStateMachine): boolean => config.id !== undefined;

type ChartCounter = ReturnType<typeof createChartCounter>;

type TransitionEntry = Extract<JournalEntry, { readonly type: 'transition' }>;

/** The event type of the steps that a machine takes at its start. */
const INIT = 'xstate.init';

interface TakenStep {
  /** The type that occurred, which a wildcard may have matched. */
  readonly event: string;
  /** Keys of the states entered; without them, history states are assumed to lead to their defaults. */
  readonly entered?: readonly string[];
  readonly countFalseBefore: boolean;
}

const configurationOf = (snapshot: AnyMachineSnapshot): Configuration => ({
  nodes: activeNodes(snapshot),
  history: snapshot.historyValue as Configuration['history'],
});

/** Transitions are indexes into its chart; null for an unknown one. */
function createChartCounter(machine: AnyStateMachine) {
  const chart = chartOf(machine);
  const times = new Map<string, number>();
  const groups = candidateGroups(machine);
  const groupByTransition = groups.flatMap((group) => group.candidates.map(() => group));
  const groupByKey = new Map(groups.map((group) => [`${group.node.id} ${group.eventType}`, group]));
  const enteredByDefault = transitionsOf(machine).map((transition) => statesEnteredBy(transition));
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

  function countTransition(index: number | null, { event, entered, countFalseBefore }: TakenStep): void {
    if (index === null) return;
    const [transition, group] = [chart.transitions[index], groupByTransition[index]];
    if (transition === undefined || group === undefined) return;
    count([transitionKey(index), ...(entered ?? enteredByDefault[index] ?? [])]);
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
      countTransition(indexOfEntry({ source, event, target, guard }), { event, countFalseBefore: true });
    },
    items: (): readonly CoveredItem[] =>
      coverageItems(machine).map((item) => ({ ...item, times: times.get(item.key) ?? 0 })),
  };
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
    candidates.push(...(eventType === '' ? (node.always ?? []) : candidatesFor(node, eventType)));
  return candidates;
}
