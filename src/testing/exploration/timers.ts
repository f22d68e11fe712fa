import type { EventObject } from 'xstate';
import { exactJson } from './exact-json.ts';

/** A delayed event that the machine has sent itself: an `after`, or a `raise` or `sendTo` with a delay. */
export interface DelayedEvent {
  /** The id by which it is canceled; for `after`, the type of its event. */
  readonly id: string | undefined;
  readonly event: EventObject;
}

/** Of several timers with one id, XState cancels only the latest. */
export function withTimer(timers: readonly DelayedEvent[], timer: DelayedEvent): readonly DelayedEvent[] {
  if (timer.id === undefined) return [...timers, timer];
  return [...timers.map((one) => (one.id === timer.id ? { ...one, id: undefined } : one)), timer];
}

export const withoutTimers = (timers: readonly DelayedEvent[], id: string | undefined): readonly DelayedEvent[] =>
  id === undefined ? timers : timers.filter((one) => one.id !== id);

/** Removes the timer that has elapsed; null if there is none. */
export function withoutElapsed(
  timers: readonly DelayedEvent[],
  { id, event }: DelayedEvent,
): readonly DelayedEvent[] | null {
  const isIt = (one: DelayedEvent): boolean => one.event === event || (one.id === id && one.event.type === event.type);
  const at = timers.findIndex(isIt);
  return at < 0 ? null : timers.toSpliced(at, 1);
}

/** Timers with the same key have the same effect. */
export const timerKey = ({ id = '', event }: DelayedEvent): string =>
  // An `after`, whose event has no payload.
  id === event.type ? id : JSON.stringify([id, exactJson(event, `the delayed ${event.type}`)]);
