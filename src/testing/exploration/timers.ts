import type { EventObject } from 'xstate';
import { exactJson } from './exact-json.ts';

/** A delayed event that the machine has sent itself: an `after`, or a `raise` or `sendTo` with a delay. */
export interface Delayed {
  /** The id by which it is canceled; for `after`, the type of its event. */
  readonly id: string | undefined;
  readonly event: EventObject;
}

/** A machine that sets a timer again and again without canceling it would have no end of states. */
const MOST_EQUAL = 2;

/** Of several timers with one id, XState cancels only the latest. Of equal timers, only two are followed. */
export function withTimer(timers: readonly Delayed[], timer: Delayed): readonly Delayed[] {
  const renamed =
    timer.id === undefined ? timers : timers.map((one) => (one.id === timer.id ? { ...one, id: undefined } : one));
  const keys = [...renamed, timer].map(timerKey);
  return [...renamed, timer].filter(
    (_, at) => keys.slice(at + 1).filter((key) => key === keys[at]).length < MOST_EQUAL,
  );
}

export const withoutTimers = (timers: readonly Delayed[], id: string | undefined): readonly Delayed[] =>
  id === undefined ? timers : timers.filter((one) => one.id !== id);

/** Removes the timer that has elapsed; null if there is none. */
export function withoutElapsed(timers: readonly Delayed[], { id, event }: Delayed): readonly Delayed[] | null {
  const isIt = (one: Delayed): boolean => one.event === event || (one.id === id && one.event.type === event.type);
  const at = timers.findIndex(isIt);
  return at < 0 ? null : timers.toSpliced(at, 1);
}

/** Timers with the same key have the same effect. */
export const timerKey = ({ id = '', event }: Delayed): string =>
  // An `after`, whose event has no payload.
  id === event.type ? id : JSON.stringify([id, exactJson(event, `the delayed ${event.type}`)]);
