import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { chartOf } from '../../engine/charts/chart.ts';
import { placesOf } from '../../engine/charts/taken-transitions.ts';
import { activeNodes } from '../../internal/xstate-internals.ts';
import { enteredAtStart, enteredBy } from '../structure/entered.ts';
import { groupsOf, transitionsOf } from '../structure/groups.ts';
import {
  type CoverageItem,
  coverageItems,
  delayKey,
  guardKey,
  outcomeKey,
  stateKey,
  transitionKey,
} from '../structure/items.ts';

/** One part of a chart, and how often it was brought about. */
export interface CoveredItem extends CoverageItem {
  readonly times: number;
}

/** What the steps are called that a machine takes as it begins. */
const INIT = 'xstate.init';

type Told = Extract<JournalEntry, { readonly type: 'transition' }>;

export type ChartToCover = ReturnType<typeof chartToCover>;

/** Counts what comes about of one machine; transitions are known by their places in its chart, null where it has none such. */
export function chartToCover(machine: AnyStateMachine) {
  const chart = chartOf(machine);
  const times = new Map<string, number>();
  const groups = groupsOf(machine);
  const groupOf = groups.flatMap((group) => group.candidates.map(() => group));
  const byName = new Map(groups.map((group) => [`${group.node.id} ${group.eventType}`, group]));
  const entered = transitionsOf(machine).map(enteredBy);
  const atStart = enteredAtStart(machine);
  const placeOfWay = placesOf(chart);
  const note = (keys: Iterable<string>): void => {
    for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1);
  };
  /** `event` is what happened: a wildcard may take it. `passedBy`: the candidates before it said no, as nobody else tells. */
  function took(place: number | null, event: string, passedBy: boolean): void {
    const [transition, group] = place === null ? [] : [chart.transitions[place], groupOf[place]];
    if (place === null || transition === undefined || group === undefined) return;
    note([transitionKey(place), ...(entered[place] ?? [])]);
    for (let before = group.first; passedBy && before < place; before += 1) note([guardKey(before, false)]);
    if (transition.guard !== null) note([guardKey(place, true)]);
    // What is taken at once comes of what was taken before it, and that was counted.
    const cause = group.eventType === '' ? '' : event;
    const [, end, actor] = /^xstate\.(done|error)\.actor\.(.*)$/u.exec(cause) ?? [];
    if (actor !== undefined) note([outcomeKey(actor, end === 'done' ? 'done' : 'error')]);
    if (cause.startsWith('xstate.after.')) note([delayKey(cause)]);
  }

  return {
    ...{ chart, note, took },
    begins: (): void => note(atStart),
    stands: (snapshot: AnyMachineSnapshot): void => note(activeNodes(snapshot).map(({ id }) => stateKey(id))),
    items: (): readonly CoveredItem[] =>
      coverageItems(machine).map((item) => ({ ...item, times: times.get(item.key) ?? 0 })),
    placeAt(state: string, eventType: string, index: number): number | null {
      const group = byName.get(`${state} ${eventType}`);
      return group === undefined || index < 0 ? null : group.first + index;
    },
    refused: (places: readonly (number | null)[]): void =>
      note(places.flatMap((place) => (place === null ? [] : [guardKey(place, false)]))),
    tookAsTold({ source, event, target, candidates }: Told): void {
      // What it does as it begins is told from where it begins.
      if (event === INIT && atStart.includes(stateKey(source))) note(atStart);
      const guard = candidates.find(({ verdict }) => verdict === 'taken')?.guard ?? null;
      took(placeOfWay({ source, event, target, guard }), event, true);
    },
  };
}
