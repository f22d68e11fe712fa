import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  InspectionEvent,
} from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { chartOf } from '../../durable/charts/chart.ts';
import { transitionFinder } from '../../durable/charts/taken-transitions.ts';
import { type Observation, observeSystem } from '../../durable/observe/observe-system.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { activeNodes } from '../../xstate/actors.ts';
import { isXState6 } from '../../xstate/ports.ts';
import { type Configuration, domainOf, initialNodes, isInside, resolvedTargets } from '../../xstate/states.ts';
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
 * if it has none. False guards of a journal are derived from the candidates before the one taken (see `CoverageItem.isRecorded`). Throws
 * `invalid_option` for a machine without a list.
 */
export function collectCoverage(given: readonly AnyStateMachine[]): CoverageCollector {
  if (!Array.isArray(given))
    throw new PostChainError(
      'invalid_option',
      `collectCoverage: expected a list of machines, for example [machine]; received ${describeValue(given)}.`,
    );
  const six = given.find(isXState6);
  if (six !== undefined)
    throw new PostChainError(
      'invalid_option',
      `collectCoverage: expected machines of XState 5; received "${six.id}" of XState 6, whose actors it cannot observe. Use explore(), cover() and runPath().`,
    );
  const machines = given.filter(({ config }, at) => given.findIndex((one) => one.config === config) === at);
  const versionState = new Map(machines.map((machine) => [machine.config as object, createChartCounter(machine)]));
  const counterNamed = (id: string): ChartCounter | undefined =>
    versionState.get(machines.find((machine) => hasId(machine) && machine.id === id)?.config ?? {});
  const found = new WeakMap<object, ChartCounter | null>();
  function counterOf(machine: AnyStateMachine | null): ChartCounter | null {
    if (machine === null) return null;
    const known = versionState.get(machine.config) ?? found.get(machine.config);
    if (known !== undefined) return known;
    const chart = JSON.stringify(chartOf(machine));
    const equal = hasId(machine)
      ? counterNamed(machine.id)
      : [...versionState.values()].find((counter) => JSON.stringify(counter.chart) === chart);
    found.set(machine.config, equal ?? null);
    return equal ?? null;
  }
  function onObservation(observation: Observation): void {
    const counter = counterOf(observation.actor.machine);
    if (counter === null) return;
    if (observation.type === 'started') counter.countStates(observation.nodes);
    if (observation.type === 'transition') counter.countObserved(observation);
    if (observation.type === 'ignored') counter.countFalse(observation.candidates.map(({ transition }) => transition));
    if (observation.type !== 'settled') return;
    // When a machine comes to rest, the guards of all its active `always` transitions were false.
    const active = activeNodes(observation.snapshot as AnyMachineSnapshot);
    counter.countFalse(active.flatMap(({ always = [] }) => always));
  }

  return {
    inspect: observeSystem(onObservation),
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
        const { chart, items } = versionState.get(machine.config) as ChartCounter;
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

  /** `event` is the type that occurred, which a wildcard may have matched, and `entered` the keys of the states entered. */
  function countTransition(index: number | null, event: string, entered: readonly string[]): void {
    if (index === null) return;
    const [transition, group] = [chart.transitions[index], groupByTransition[index]];
    if (transition === undefined || group === undefined) return;
    count([transitionKey(index), ...entered]);
    if (transition.guard !== null) count([guardKey(index, true)]);
    // An `always` transition carries the event of the transition before it, which was counted there.
    if (group.eventType === '') return;
    const [, end, actor] = /^xstate\.(done|error)\.actor\.(.*)$/u.exec(event) ?? [];
    if (actor !== undefined) count([outcomeKey(actor, end === 'done' ? 'done' : 'error')]);
    if (event.startsWith('xstate.after.')) count([delayKey(event)]);
  }

  function countFalse(transitions: readonly AnyTransitionDefinition[]): void {
    const indexes = transitions.filter(({ guard }) => guard !== undefined).flatMap((one) => indexOf(one) ?? []);
    count(indexes.map((index) => guardKey(index, false)));
  }

  return {
    chart,
    count,
    countFalse,
    countStart: (): void => count(atStart),
    countStates: (nodes: readonly AnyStateNode[]): void => count(keysOf(nodes)),
    countObserved({ transition, event, candidates, snapshot }: Extract<Observation, { type: 'transition' }>): void {
      countFalse(candidates.flatMap((one) => (one.result === 'false' ? [one.transition] : [])));
      const entered = statesEnteredBy(transition, snapshot.historyValue as Configuration['history']);
      countTransition(indexOf(transition), event.type, entered);
    },
    countJournalEntry({ source, event, target, candidates }: TransitionEntry): void {
      if (event === INIT && atStart.includes(stateKey(source))) count(atStart);
      const guard = candidates.find(({ result }) => result === 'taken')?.guard ?? null;
      const index = indexOfEntry({ source, event, target, guard }) ?? -1;
      for (let before = groupByTransition[index]?.first ?? index; before < index; before += 1)
        count([guardKey(before, false)]);
      // History states are assumed to lead to their defaults.
      countTransition(index, event, enteredByDefault[index] ?? []);
    },
    items: (): readonly CoveredItem[] =>
      coverageItems(machine).map((item) => ({ ...item, times: times.get(item.key) ?? 0 })),
  };
}
