import type { DurableEvent } from '../../src/durable/entries.ts';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { RunLog } from '../wire/run-log.ts';
import { isExternalEvent } from './external-events.ts';
import type { RunFold } from './run-fold.ts';
import { type MachineWaits, systemWaits } from './system-waits.ts';
import { eventWords } from './system-words.ts';

/** The step of an actor after which a fork begins. */
interface ForkPoint {
  /** What happened in the step: `flight.chosen`, `the result of book`, `the start`. */
  readonly step: string;
  /** What the machine waits for after it; undefined if the actor has ended in it. */
  readonly waits: MachineWaits | undefined;
  /** What the original received next; null if nothing. */
  readonly next: string | null;
}

/** Returns the step of an entry of an actor. */
export function forkPoint(
  log: RunLog,
  fold: RunFold,
  charts: RunCharts | null,
  machine: string,
  at: number,
): ForkPoint {
  const isExternal = (seq: number): boolean => {
    const entry = log.entry(seq);
    return entry !== null && isExternalEvent(entry);
  };
  let from = at;
  while (from > 0 && !isExternal(from)) from -= 1;
  let to = at + 1;
  while (to < log.count && !isExternal(to)) to += 1;
  return {
    step: from === 0 ? 'the start' : receivedText(log, { fold, charts }, from),
    waits: systemWaits(fold, charts, to - 1).find((one) => one.machine === machine),
    next: to < log.count ? receivedText(log, { fold, charts }, to) : null,
  };
}

function receivedText(log: RunLog, named: Parameters<typeof eventWords>[0], seq: number): string {
  const entry = log.entry(seq) as unknown as DurableEvent;
  if (entry.type === 'delivery') return eventWords(named, '', String(Object(entry.event).type));
  if (entry.type === 'activity-event') return `the result of ${entry.source}`;
  return entry.type === 'timer' ? 'a timer' : entry.type === 'failed' ? 'a failure' : 'a stop';
}
