import { descriptorMatches } from '../../xstate/states.ts';
import type { Chart } from './chart.ts';

/** A transition that was taken, as a journal records it, with XState's name of the event. */
export interface TakenTransition {
  readonly event: string;
  readonly source: string;
  readonly target: readonly string[];
  readonly guard: string | null;
}

/** Whether a journal records this transition. One without a target and a guard only runs actions. */
export const isRecorded = ({ target, guard }: Chart['transitions'][number]): boolean =>
  target.length > 0 || guard !== null;

/** Returns a function that finds the index of a taken transition in `Chart.transitions`, or null. */
export function transitionFinder({ transitions }: Chart): (taken: TakenTransition) => number | null {
  const bySource = new Map<string, number[]>();
  for (const [index, { source }] of transitions.entries()) {
    const indexes = bySource.get(source) ?? [];
    bySource.set(source, indexes);
    indexes.push(index);
  }
  return (taken) => {
    const matching = (bySource.get(taken.source) ?? []).filter((index) => {
      const { target, guard, event } = transitions[index] as Chart['transitions'][number];
      return guard === taken.guard && sameIds(target, taken.target) && eventMatches(event, taken.event, taken.source);
    });
    // The most specific descriptor takes precedence, and any of them over an eventless transition.
    const chars = (index: number): number => transitions[index]?.event.length ?? 0;
    return matching.toSorted((one, other) => chars(other) - chars(one))[0] ?? null;
  };
}

const sameIds = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((id, index) => id === right[index]);

const SPAWNED_END = /^(.+): (done|error)$/u;

/** Whether XState's name of an event matches a chart's. An eventless transition is recorded with the event that led to it. */
export function eventMatches(named: string, raw: string, source: string): boolean {
  if (named === '' || named === raw) return true;
  if (named === 'done') return raw.startsWith('xstate.done.');
  if (named === 'error') return raw.startsWith('xstate.error.');
  const [, actor, end] = SPAWNED_END.exec(named) ?? [];
  if (end !== undefined) return raw === `xstate.${end}.actor.${actor}`;
  if (named.startsWith('after ')) return raw === `xstate.after.${named.slice('after '.length)}.${source}`;
  return descriptorMatches(named, raw);
}
