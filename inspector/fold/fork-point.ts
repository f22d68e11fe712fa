import type { RunStart } from '../../machines/contracts/journal.ts';
import { type ActorEntry, endReportedBy } from './actor-entries.ts';
import type { EntryOf } from './entry-index.ts';
import { humanizeEvent } from './explain.ts';
import type { LoadedEntries } from './run-fold.ts';
import { type MachineWaits, systemWaits } from './system-waits.ts';
import { actorName } from './system-words.ts';

/** The step of an actor after which a fork begins. */
interface ForkPoint {
  /** The selected entry, or the last one before the step in which the actor ended. */
  readonly at: number;
  /** What happened in the step: `flight.chosen`, `the result of book`, `a timer`, `the start`. */
  readonly step: string;
  /** What the machine waits for after it; undefined if it is not known. */
  readonly waits: MachineWaits | undefined;
  /** What the original received next; null if nothing. */
  readonly next: string | null;
}

/** Returns the entry with which a fork continues what it has copied; null if it is not a fork, or if that is not recorded. */
export function forkStart({ log, fold: { entries } }: Pick<LoadedEntries, 'log' | 'fold'>): number | null {
  const { forkedFrom }: Partial<RunStart> = Object(log.count > 0 ? log.entry(0) : null);
  const { forkedAt = '' } = Object(forkedFrom) as { readonly forkedAt?: string };
  const isOwn = (seq: number): boolean => (log.entry(seq) as EntryOf<'resumed'>).resumedAt >= forkedAt;
  return forkedAt === '' ? null : (entries.of('resumed').find(isOwn) ?? null);
}

/** Returns the step of an entry of an actor; the step before it if the actor ended in it. */
export function forkPoint(loaded: LoadedEntries, machine: string, at: number, isOver: boolean): ForkPoint {
  const { log, fold, charts } = loaded;
  const { from, to } = fold.externalEvents.stepOf(at);
  const next = Math.min(to, log.count);
  const waits = systemWaits(fold, charts, next - 1).find((one) => one.machine === machine);
  if (waits === undefined && isOver && from > 0 && next === log.count)
    return forkPoint(loaded, machine, from - 1, false);
  return {
    at,
    step: receivedText(loaded, from),
    waits,
    next: next < log.count ? receivedText(loaded, next) : null,
  };
}

/** What an actor received in the step that begins with an entry: `flight.chosen`, `the result of book`. */
export function receivedText({ log, fold, charts }: LoadedEntries, seq: number): string {
  const entry = log.entry(seq) as unknown as ActorEntry;
  if (seq === 0) return 'the start';
  if (entry.type !== 'delivery') return entry.type === 'failed' ? 'a failure' : 'a stop';
  const { actor, event, sender, isExternal } = entry;
  const ended = endReportedBy(actor, event.type);
  if (ended !== null) return `the result of ${actorName({ fold, charts }, ended.path)}`;
  return sender === null && !isExternal ? 'a timer' : humanizeEvent(event.type);
}
