import type { ConsentRequest, ContextOperation } from '../../machines/contracts/context.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Pruning } from '../../machines/contracts/phase-io.ts';
import { applyOperations, duplicateIds } from '../../machines/policies/context.ts';
import { type ListedOperation, operationList, startMessages } from '../../src/journal/context-history.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryOf, Places } from './places.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** A message that entered the context: at the start of the run, or by an operation. */
interface Arrival {
  readonly id: string;
  /** The entry that brought it. */
  readonly from: number;
  /** The operation that did, by its number; -1 for what the run began with. */
  readonly operation: number;
  readonly message: Message;
  /** What took it out again, by its number among the operations, and the entry that applied it; null while nothing did. */
  pruned: { readonly at: number; readonly operation: number } | null;
}

/** What was done to the context of a run, and which messages it ever had. */
export interface ContextLog {
  readonly operations: readonly ListedOperation[];
  /** The entry that applied each of them. */
  readonly seqs: readonly number[];
  /** In context order. */
  readonly arrivals: readonly Arrival[];
  /** Understanding's reasons for pruning operations, by operation id. */
  readonly prunings: ReadonlyMap<string, { readonly seq: number; readonly pruning: Pruning }>;
  /** The operations that name a message, by their numbers, ascending. */
  about(messageId: string): readonly number[];
  /** How many operations were applied at an entry. */
  appliedBy(seq: number): number;
  /** The messages that the run had begun with at an entry. */
  begunBy(seq: number): readonly Message[];
  /** The context at an entry, derived from the operations; repeated calls return the same list. */
  messagesAt(seq: number): readonly Message[];
}

/** Operations between two cached contexts, so that a late context is not rebuilt from the start. */
const REMEMBERED_EVERY = 256;

const NONE: readonly number[] = [];

export function createContextLog(): { readonly log: ContextLog; take(entry: JournalEntry): void } {
  const { listed, take: list } = operationList();
  const seqs: number[] = [];
  const operations: ContextOperation[] = [];
  const begun: { readonly from: number; readonly messages: readonly Message[] }[] = [];
  let arrivals: readonly Arrival[] = [];
  const later: Arrival[] = [];
  const alive = new Map<string, Arrival>();
  const about = new Map<string, number[]>();
  const prunings = new Map<string, { readonly seq: number; readonly pruning: Pruning }>();
  let shared: ReadonlySet<string> = new Set();
  let remembered: (readonly Message[])[] = [];
  let newest: { readonly key: string; readonly messages: readonly Message[] } | null = null;

  function begin(messages: readonly Message[], seq: number): void {
    begun.push({ from: seq, messages });
    const made = messages.map(
      (message): Arrival => ({ id: message.id, from: seq, operation: -1, message, pruned: null }),
    );
    arrivals = [...made, ...arrivals];
    for (const arrival of made) alive.set(arrival.id, arrival);
    shared = duplicateIds(arrivals.map(({ message }) => message));
    remembered = [];
  }

  /** Same rules as `applyOperations`: an existing message is not added again, and a duplicate id matches no message. */
  function apply(operation: ContextOperation, seq: number): void {
    const number = operations.push(operation) - 1;
    seqs.push(seq);
    const { target } = operation;
    const known = about.get(target);
    if (known === undefined) about.set(target, [number]);
    else known.push(number);
    if (operation.operation === 'ADD') {
      const { message } = operation.data;
      if (alive.has(message.id)) return;
      const arrival: Arrival = { id: message.id, from: seq, operation: number, message, pruned: null };
      alive.set(message.id, arrival);
      later.push(arrival);
    } else if (operation.operation === 'PRUNE' && !shared.has(target)) {
      const arrival = alive.get(target);
      if (arrival === undefined) return;
      arrival.pruned = { at: seq, operation: number };
      alive.delete(target);
    }
  }

  const begunBy = (seq: number): readonly Message[] =>
    begun.toReversed().flatMap(({ from, messages }) => (from <= seq ? messages : []));

  function afterOperations(count: number): readonly Message[] {
    const nearest = Math.floor(count / REMEMBERED_EVERY);
    for (let at = remembered.length; at <= nearest; at += 1) {
      const from = (at - 1) * REMEMBERED_EVERY;
      const before = remembered[at - 1];
      remembered.push(
        before === undefined
          ? begunBy(Number.POSITIVE_INFINITY)
          : applyOperations(before, operations.slice(from, from + REMEMBERED_EVERY)),
      );
    }
    return applyOperations(remembered[nearest] ?? [], operations.slice(nearest * REMEMBERED_EVERY, count));
  }

  return {
    log: {
      operations: listed,
      seqs,
      get arrivals() {
        return [...arrivals, ...later];
      },
      prunings,
      about: (messageId) => about.get(messageId) ?? NONE,
      appliedBy: (seq) => countUpTo(seqs, seq),
      begunBy,
      messagesAt(seq) {
        const count = countUpTo(seqs, seq);
        const key = `${count} ${begun.filter(({ from }) => from <= seq).length}`;
        if (newest?.key !== key) newest = { key, messages: count === 0 ? begunBy(seq) : afterOperations(count) };
        return newest.messages;
      },
    },
    take(entry) {
      const first = startMessages(entry);
      if (first.length > 0) begin(first, entry.seq);
      list(entry);
      if (entry.type === 'operations') for (const operation of entry.applied) apply(operation, entry.seq);
      if (entry.type === 'context-evaluated')
        for (const pruning of entry.pruningLog) prunings.set(pruning.operationId, { seq: entry.seq, pruning });
    },
  };
}

/** A message as the page lists it: one that is in the context, or one that was. */
export interface ContextRow {
  /** Differs from that of every other row. */
  readonly key: string;
  readonly message: Message;
  /** How the message entered; null if the journal does not record it. */
  readonly arrival: Arrival | null;
  /** The operation that took it out, by its number; null for one that is there. */
  readonly pruned: number | null;
}

/** All messages the context ever had up to an entry, in place; current ones as in `messages`. */
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

/** The message before an operation, given by its number. */
export function versionBefore(log: ContextLog, { id, operation: added, message }: Arrival, operation: number): Message {
  const earlier = log
    .about(id)
    .filter((number) => number > added && number < operation)
    .flatMap((number) => log.operations[number]?.operation ?? [])
    .filter((one) => one.operation !== 'ADD' && one.operation !== 'PRUNE');
  return applyOperations([message], earlier)[0] ?? message;
}

/** A question about the user's own messages, and how it was settled; null while it is open. */
export interface Consent {
  readonly asked: number;
  readonly request: ConsentRequest;
  readonly resolved: EntryOf<'consent-resolved'> | null;
}

/** The last questions up to an entry, in order: one at a time is open. */
export function consentsBy(log: RunLog, places: Places, seq: number, most: number): readonly Consent[] {
  const all = places.of('consent-asked');
  const count = countUpTo(all, seq);
  const asked = all.slice(Math.max(0, count - most), count);
  const answers = places.of('consent-resolved');
  return asked.flatMap((at, place) => {
    const entry = log.entry(at);
    if (entry.type !== 'consent-asked') return [];
    const end = asked[place + 1] ?? seq;
    const answer = lastUpTo(answers, end);
    const resolved = answer !== undefined && answer > at ? log.entry(answer) : null;
    return [{ asked: at, request: entry.request, resolved: resolved?.type === 'consent-resolved' ? resolved : null }];
  });
}
