import type { ActorEntry } from './actor-entries.ts';
import type { LoadedEntries } from './run-fold.ts';
import { type MachineWaits, systemWaits } from './system-waits.ts';
import { eventWords } from './system-words.ts';

/** The step of an actor after which a fork begins. */
interface ForkPoint {
  /** What happened in the step: `flight.chosen`, `book finished`, `the start`. */
  readonly step: string;
  /** What the machine waits for after it; undefined if the actor has ended in it. */
  readonly waits: MachineWaits | undefined;
  /** What the original received next; null if nothing. */
  readonly next: string | null;
}

/** Returns the step of an entry of an actor. */
export function forkPoint(loaded: LoadedEntries, machine: string, at: number): ForkPoint {
  const { log, fold, charts } = loaded;
  const { from, to } = fold.externalEvents.stepOf(at);
  const next = Math.min(to, log.count);
  return {
    step: from === 0 ? 'the start' : receivedText(loaded, from),
    waits: systemWaits(fold, charts, next - 1).find((one) => one.machine === machine),
    next: next < log.count ? receivedText(loaded, next) : null,
  };
}

function receivedText({ log, fold, charts }: LoadedEntries, seq: number): string {
  const entry = log.entry(seq) as unknown as ActorEntry;
  if (entry.type === 'delivery') return eventWords({ fold, charts }, entry.actor, entry.event.type);
  return entry.type === 'failed' ? 'a failure' : 'a stop';
}
