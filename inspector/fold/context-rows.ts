import type { Message } from '../../machines/contracts/message.ts';
import { applyOperations } from '../../machines/policies/context.ts';
import type { Arrival, ContextLog } from './context-log.ts';

/** A message as the page lists it: one that is in the context, or one that was. */
export interface ContextRow {
  /** Differs from that of every other row. */
  readonly key: string;
  readonly message: Message;
  /** How it came; null where the journal does not tell. */
  readonly arrival: Arrival | null;
  /** The operation that took it out, by its number; null for one that is there. */
  readonly pruned: number | null;
}

/** All messages that the context ever had up to an entry, each where it stood; what is there is as `messages` has it. */
export function contextRows(log: ContextLog, messages: readonly Message[], seq: number): readonly ContextRow[] {
  const there = new Map(messages.map((message) => [message.id, message]));
  const arrivals = log.arrivals.filter(({ from }) => from <= seq);
  const newest = new Map(arrivals.map((arrival) => [arrival.id, arrival]));
  const rows: ContextRow[] = [];
  for (const [place, arrival] of arrivals.entries()) {
    const { id, pruned } = arrival;
    const key = `${place}`;
    const message = newest.get(id) === arrival ? there.get(id) : undefined;
    if (message !== undefined) rows.push({ key, message, arrival, pruned: null });
    else if (pruned !== null && pruned.at <= seq)
      rows.push({ key, message: arrival.message, arrival, pruned: pruned.operation });
  }
  for (const message of messages)
    if (!newest.has(message.id)) rows.push({ key: message.id, message, arrival: null, pruned: null });
  return rows;
}

/** A message as it stood before an operation on it, by that operation's number. */
export function versionBefore(log: ContextLog, { id, operation: added, message }: Arrival, operation: number): Message {
  const earlier = log
    .about(id)
    .filter((number) => number > added && number < operation)
    .flatMap((number) => log.operations[number]?.operation ?? [])
    .filter((one) => one.operation !== 'ADD' && one.operation !== 'PRUNE');
  return applyOperations([message], earlier)[0] ?? message;
}
