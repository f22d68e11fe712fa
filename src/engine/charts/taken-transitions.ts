import type { Chart } from './chart.ts';

/** A transition that was taken, as a journal names it: the event as XState has it. */
export interface TakenTransition {
  readonly event: string;
  readonly source: string;
  readonly target: readonly string[];
  readonly guard: string | null;
}

/** One that goes nowhere and chooses nothing only takes something in: no journal tells of it. */
export const isRecorded = ({ target, guard }: Chart['transitions'][number]): boolean =>
  target.length > 0 || guard !== null;

/** Which transition of a chart a way is: its place in `Chart.transitions`; null where the chart has no such transition. */
export function transitionFinder({ transitions }: Chart): (way: TakenTransition) => number | null {
  const bySource = new Map<string, number[]>();
  for (const [place, { source }] of transitions.entries()) {
    const places = bySource.get(source) ?? [];
    bySource.set(source, places);
    places.push(place);
  }
  return (way) => {
    const fitting = (bySource.get(way.source) ?? []).filter((place) => {
      const { target, guard, event } = transitions[place] as Chart['transitions'][number];
      return guard === way.guard && sameIds(target, way.target) && eventMatches(event, way.event, way.source);
    });
    // What an event says by its name comes before what fits any event.
    return fitting.find((place) => transitions[place]?.event !== '') ?? fitting[0] ?? null;
  };
}

const sameIds = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((id, place) => id === right[place]);

/** Whether an event of XState is the one that a transition of a chart names. One that is taken at once goes by whatever event led there. */
export function eventMatches(named: string, raw: string, source: string): boolean {
  if (named === '' || named === raw) return true;
  if (named === 'done') return raw.startsWith('xstate.done.');
  if (named === 'error') return raw.startsWith('xstate.error.');
  if (named.startsWith('after ')) return raw === `xstate.after.${named.slice('after '.length)}.${source}`;
  return wildcardMatches(named, raw);
}

/** `*`, or `mouse.*` for `mouse` and all that begins so. */
export function wildcardMatches(named: string, raw: string): boolean {
  return named === '*' || (named.endsWith('.*') && `${raw}.`.startsWith(named.slice(0, -1)));
}
