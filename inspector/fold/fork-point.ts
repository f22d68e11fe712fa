import { type ActorEntry, endReportedBy } from './actor-entries.ts';
import { humanizeEvent } from './explain.ts';
import type { LoadedEntries } from './run-fold.ts';
import { type MachineWaits, systemWaits } from './system-waits.ts';
import { actorName } from './system-words.ts';

/** The step of an actor after which a fork begins. */
interface ForkPoint {
  /** What happened in the step: `flight.chosen`, `the result of book`, `a timer`, `the start`. */
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
  if (entry.type !== 'delivery') return entry.type === 'failed' ? 'a failure' : 'a stop';
  const { actor, event, sender, isExternal } = entry;
  const ended = endReportedBy(actor, event.type);
  if (ended !== null) return `the result of ${actorName({ fold, charts }, ended.path)}`;
  return sender === null && !isExternal ? 'a timer' : humanizeEvent(event.type);
}
