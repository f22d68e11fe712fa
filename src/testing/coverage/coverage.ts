import type { AnyStateMachine, InspectionEvent } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { type Chart, chartOf } from '../../diagram/chart.ts';
import {
  type CoverageItem,
  coverageItems,
  delayKey,
  guardKey,
  outcomeKey,
  stateKey,
  transitionKey,
} from '../anatomy/items.ts';
import { nodesOf } from '../anatomy/nodes.ts';
import type { Exploration } from '../exploration/exploration.ts';
import { reachedItems } from '../properties/chart.ts';
import { type GroupPlace, groupPlaces } from './group-places.ts';

/** One part of a chart, and how often it was brought about. */
export interface CoveredItem extends CoverageItem {
  readonly times: number;
}

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

type Taken = Extract<JournalEntry, { readonly type: 'transition' }>;

/**
 * Collects over machines, which are known by their ids. Where no transition is taken for an event, neither XState's inspection nor a
 * journal tells that guards said no: such a no counts where another transition is taken instead.
 */
export function collectCoverage(machines: readonly AnyStateMachine[]): CoverageCollector {
  const charts = new Map(machines.map((machine) => [machine.id, chartToCover(machine)]));
  return {
    inspect(event) {
      if (event.type !== '@xstate.microstep') return;
      for (const taken of event._transitions) {
        const { source, eventType, guard } = taken;
        const group = eventType === '' ? (source.always ?? []) : (source.transitions.get(eventType) ?? []);
        charts.get(source.machine.id)?.took(source.id, eventType, group.indexOf(taken), guard !== undefined);
      }
    },
    addJournal(entries) {
      for (const entry of entries) if (entry.type === 'transition') charts.get(entry.machine)?.tookAsTold(entry);
    },
    addExploration(exploration) {
      charts.get(exploration.machine.id)?.note(reachedItems(exploration));
    },
    coverage: () => [...charts].map(([machine, { chart, items }]) => ({ machine, chart, items: items() })),
  };
}

function chartToCover(machine: AnyStateMachine) {
  const times = new Map<string, number>();
  const groups = groupPlaces(machine);
  const byPlace = new Map(groups.map((group) => [`${group.state} ${group.eventType}`, group]));
  const byState = new Map<string, GroupPlace[]>();
  for (const group of groups) byState.set(group.state, [...(byState.get(group.state) ?? []), group]);
  const entered = enteredBy(machine);
  const note = (keys: Iterable<string>): void => {
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  };
  note(entered(machine.root.id));

  function take({ state, eventType, first, candidates }: GroupPlace, index: number, isGuarded: boolean): void {
    note([transitionKey(first + index), stateKey(state), ...(candidates[index]?.target ?? []).flatMap(entered)]);
    for (let before = 0; before < index; before += 1) note([guardKey(first + before, false)]);
    if (isGuarded) note([guardKey(first + index, true)]);
    const [, end, actor] = /^xstate\.(done|error)\.actor\.(.*)$/u.exec(eventType) ?? [];
    if (actor !== undefined) note([outcomeKey(actor, end === 'done' ? 'done' : 'error')]);
    if (eventType.startsWith('xstate.after.')) note([delayKey(eventType)]);
  }

  return {
    note,
    chart: chartOf(machine),
    items: (): readonly CoveredItem[] =>
      coverageItems(machine).map((item) => ({ ...item, times: times.get(item.key) ?? 0 })),
    took(state: string, eventType: string, index: number, isGuarded: boolean): void {
      const group = byPlace.get(`${state} ${eventType}`);
      if (group !== undefined && index >= 0) take(group, index, isGuarded);
    },
    /** A journal has the event that came; what is taken at once comes after one that it has nothing to do with. */
    tookAsTold({ source, event, target, candidates }: Taken): void {
      const guard = candidates.find(({ verdict }) => verdict === 'taken')?.guard ?? null;
      const fits = (one: GroupPlace['candidates'][number]): boolean =>
        one.guard === guard && one.target.join() === target.join();
      const own = byState.get(source) ?? [];
      const group = [...own.filter(({ eventType }) => eventType === event), ...own].find((one) =>
        one.candidates.some(fits),
      );
      if (group !== undefined) take(group, group.candidates.findIndex(fits), guard !== null);
    },
  };
}

/** The states that are entered with one: those around it, and those that it begins in. */
function enteredBy(machine: AnyStateMachine) {
  const nodes = new Map(nodesOf(machine).map((node) => [node.id, node]));
  const within = (id: string): readonly string[] => {
    const node = nodes.get(id);
    if (node === undefined) return [];
    const inner = node.type === 'parallel' ? Object.values(node.states) : [...(node.initial?.target ?? [])];
    return [stateKey(id), ...inner.flatMap((one) => within(one.id))];
  };
  return (id: string): readonly string[] => {
    const around: string[] = [];
    for (let at = nodes.get(id)?.parent; at !== undefined; at = at.parent) around.push(stateKey(at.id));
    return [...around, ...within(id)];
  };
}
