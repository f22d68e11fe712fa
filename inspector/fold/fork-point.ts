import { type ActorEntry, endReportedBy } from './actor-entries.ts';
import { humanizeEvent } from './explain.ts';
import type { LoadedEntries } from './run-fold.ts';
import { stepName } from './system-step.ts';
import { systemWaits } from './system-waits.ts';
import { actorName } from './system-words.ts';

/** What happened in the step of an entry, what the machine waits for after it (undefined if unknown), and what the actor received next; null if nothing. */
function pointAt(loaded: LoadedEntries, machine: string, at: number) {
  const { log, fold, charts } = loaded;
  const { from, to } = fold.entries.stepOf(at);
  const next = Math.min(to, log.count);
  return {
    // The entry `closed` of a parked actor is not part of the step.
    at: fold.entries.typeOf(at) === 'closed' ? at - 1 : at,
    from,
    step: [stepName(fold, from), receivedText(loaded, from)].filter(Boolean).join(', '),
    waits: systemWaits(fold, charts, next - 1).find((one) => one.machine === machine),
    next: next < log.count ? receivedText(loaded, next) : null,
  };
}

/** The step of an actor after which a fork begins: that of an entry, or the one before it if the actor ended in it. */
export function forkPoint(loaded: LoadedEntries, machine: string, at: number, isOver: boolean) {
  const point = pointAt(loaded, machine, at);
  const isEnd = point.waits === undefined && isOver && point.from > 0 && point.next === null;
  return isEnd ? pointAt(loaded, machine, point.from - 1) : point;
}

/** What an actor received in the step that begins with an entry: `flight.chosen`, `the result of book`. */
function receivedText({ log, fold, charts }: LoadedEntries, seq: number): string {
  const entry = log.entry(seq) as unknown as ActorEntry;
  if (seq === 0) return 'the start';
  if (entry.type !== 'delivery') return entry.type === 'failed' ? 'a failure' : 'a stop';
  const { actor, event, sender, isExternal } = entry;
  const ended = endReportedBy(actor, event.type);
  if (ended !== null) return `the result of ${actorName({ fold, charts }, ended.path)}`;
  return sender === null && !isExternal ? 'a timer' : humanizeEvent(event.type);
}
