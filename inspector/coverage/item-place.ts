import type { Chart } from '../../src/engine/charts/chart.ts';
import type { Choice } from '../chart/choices.ts';
import type { ShownItem } from './read-report.ts';

/** The transition that an item is about, by its place in the chart; null where it is about none. */
export function transitionOf({ key }: ShownItem): number | null {
  const [, place] = /^(?:transition|guard) (\d+)(?: (?:true|false))?$/u.exec(key) ?? [];
  return place === undefined ? null : Number(place);
}

/** What a guard said, where an item is about that. */
export function answerOf({ kind, key }: ShownItem): 'yes' | 'no' | null {
  if (kind !== 'guard') return null;
  return key.endsWith(' true') ? 'yes' : 'no';
}

/** The state that an item is about: itself, or the one that an actor or a delay runs in; null where the chart has none such. */
export function stateOf({ kind, key, name }: ShownItem, { states }: Chart): string | null {
  const ids = states.map(({ id }) => id);
  if (kind === 'state') return ids.find((id) => key === `state ${id}`) ?? null;
  if (kind !== 'outcome' && kind !== 'delay') return null;
  // One id may be the beginning of another.
  const named = ids.filter((id) => name.startsWith(`${id}: `));
  return named.sort((one, other) => other.length - one.length)[0] ?? null;
}

/** Where an item is seen in the picture: the transitions that are taken on it, or its state. */
export function placeOfItem(item: ShownItem, chart: Chart): Choice | null {
  const place = transitionOf(item);
  if (place !== null)
    return place < chart.transitions.length ? { kind: 'transitions', chartId: chart.id, transitions: [place] } : null;
  const stateId = stateOf(item, chart);
  if (stateId === null) return null;
  const what = item.name.slice(stateId.length + 2);
  const event = item.kind === 'delay' ? what : (/ (done|error)$/u.exec(what)?.[1] ?? '');
  const transitions = chart.transitions.flatMap(({ source, event: own }, at) =>
    item.kind !== 'state' && source === stateId && own === event ? [at] : [],
  );
  return transitions.length > 0
    ? { kind: 'transitions', chartId: chart.id, transitions }
    : { kind: 'state', chartId: chart.id, stateId };
}

/** Its name without that of the machine, which stands above it, without what its guard said, and with the arrow that every font has. */
export function shortName(item: ShownItem, machine: string): string {
  const name = item.name.startsWith(`${machine}.`) ? item.name.slice(machine.length + 1) : item.name;
  return (item.kind === 'guard' ? name.replace(/: (?:true|false)$/u, '') : name).replace(' → ', ' › ');
}
