import type { ConsentRequest, ContextOperation } from '../../machines/contracts/context.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Pruning } from '../../machines/contracts/phase-io.ts';
import { applyOperations, duplicateIds } from '../../machines/policies/context.ts';
import { type ListedOperation, operationList, startMessages } from '../../src/chain/journal/context-history.ts';
import type { RunLog } from '../wire/run-log.ts';
import type { EntryIndex, EntryOf } from './entry-index.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** A message that entered the context: at the start of the run, or by an operation. */
interface Arrival {
  readonly id: string;
  /** The entry that added it. */
  readonly from: number;
  /** The index of the operation that added it; -1 for initial messages. */
  readonly operation: number;
  readonly message: Message;
  /** The operations that pruned it, by index, and the entries that applied them: more than one if the user undid one. */
  readonly prunings: { readonly at: number; readonly operation: number }[];
}

export interface ContextLog {
  readonly operations: readonly ListedOperation[];
  /** The entry that applied each of them. */
  readonly seqs: readonly number[];
  /** In context order. */
  readonly arrivals: readonly Arrival[];
  /** Understanding's reasons for pruning operations, by operation id. */
  readonly prunings: ReadonlyMap<string, { readonly seq: number; readonly pruning: Pruning }>;
  /** The indexes of the operations on a message, ascending. */
  about(messageId: string): readonly number[];
  appliedAt(seq: number): number;
  initialMessagesAt(seq: number): readonly Message[];
  /** Repeated calls return the same list. */
  messagesAt(seq: number): readonly Message[];
}

/** Operations between two cached contexts, so that a late context is not rebuilt from the start. */
const SNAPSHOT_INTERVAL = 256;

const NONE: readonly number[] = [];

export function createContextLog(): { readonly log: ContextLog; take(entry: JournalEntry): void } {
  const { listed, take: list } = operationList();
  const seqs: number[] = [];
  const operations: ContextOperation[] = [];
  const initial: { readonly from: number; readonly messages: readonly Message[] }[] = [];
  let arrivals: readonly Arrival[] = [];
  const later: Arrival[] = [];
  const alive = new Map<string, Arrival>();
  const about = new Map<string, number[]>();
  const undone: { readonly id: string; readonly from: number }[] = [];
  const prunings = new Map<string, { readonly seq: number; readonly pruning: Pruning }>();
  let duplicates: ReadonlySet<string> = new Set();
  let snapshots: (readonly Message[])[] = [];
  let newest: { readonly key: string; readonly messages: readonly Message[] } | null = null;

  function begin(messages: readonly Message[], seq: number): void {
    initial.push({ from: seq, messages });
    const created = messages.map(
      (message): Arrival => ({ id: message.id, from: seq, operation: -1, message, prunings: [] }),
    );
    arrivals = [...created, ...arrivals];
    for (const arrival of created) alive.set(arrival.id, arrival);
    duplicates = duplicateIds(arrivals.map(({ message }) => message));
    snapshots = [];
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
      const arrival: Arrival = { id: message.id, from: seq, operation: number, message, prunings: [] };
      alive.set(message.id, arrival);
      later.push(arrival);
    } else if (operation.operation === 'PRUNE' && !duplicates.has(target)) {
      const arrival = alive.get(target);
      if (arrival === undefined) return;
      arrival.prunings.push({ at: seq, operation: number });
      alive.delete(target);
    }
  }

  /** Operations that are undone no longer count, so the context is computed again without them. */
  function undoAll(ids: readonly string[], seq: number): void {
    for (const id of ids) {
      undone.push({ id, from: seq });
      const number = operations.findLastIndex((operation) => operation.id === id);
      const arrival = [...arrivals, ...later].findLast(({ prunings }) => prunings.at(-1)?.operation === number);
      if (number >= 0 && arrival !== undefined) alive.set(arrival.id, arrival);
    }
  }

  const initialMessagesAt = (seq: number): readonly Message[] =>
    initial.toReversed().flatMap(({ from, messages }) => (from <= seq ? messages : []));

  function afterOperations(count: number): readonly Message[] {
    const nearest = Math.floor(count / SNAPSHOT_INTERVAL);
    for (let at = snapshots.length; at <= nearest; at += 1) {
      const from = (at - 1) * SNAPSHOT_INTERVAL;
      const before = snapshots[at - 1];
      snapshots.push(
        before === undefined
          ? initialMessagesAt(Number.POSITIVE_INFINITY)
          : applyOperations(before, operations.slice(from, from + SNAPSHOT_INTERVAL)),
      );
    }
    return applyOperations(snapshots[nearest] ?? [], operations.slice(nearest * SNAPSHOT_INTERVAL, count));
  }

  function contextAfter(count: number, without: ReadonlySet<string>, seq: number): readonly Message[] {
    if (count === 0) return initialMessagesAt(seq);
    if (without.size === 0) return afterOperations(count);
    const counted = operations.slice(0, count).filter(({ id }) => !without.has(id));
    return applyOperations(initialMessagesAt(Number.POSITIVE_INFINITY), counted);
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
      appliedAt: (seq) => countUpTo(seqs, seq),
      initialMessagesAt,
      messagesAt(seq) {
        const count = countUpTo(seqs, seq);
        const without = new Set(undone.filter(({ from }) => from <= seq).map(({ id }) => id));
        const key = `${count} ${initial.filter(({ from }) => from <= seq).length} ${without.size}`;
        if (newest?.key !== key) newest = { key, messages: contextAfter(count, without, seq) };
        return newest.messages;
      },
    },
    take(entry) {
      const first = startMessages(entry);
      if (first.length > 0) begin(first, entry.seq);
      list(entry);
      if (entry.type === 'operations') for (const operation of entry.applied) apply(operation, entry.seq);
      if (entry.type === 'context-overruled') undoAll(entry.undone, entry.seq);
      if (entry.type === 'context-evaluated')
        for (const pruning of entry.pruningLog) prunings.set(pruning.operationId, { seq: entry.seq, pruning });
    },
  };
}

/** A current or pruned message of the context. */
export interface ContextRow {
  /** Unique among the rows. */
  readonly key: string;
  readonly message: Message;
  /** How the message entered; null if the journal does not record it. */
  readonly arrival: Arrival | null;
  /** The index of the operation that pruned it; null if it is still in the context. */
  readonly pruned: number | null;
}

/** All messages the context ever had up to an entry, in place; current ones as in `messages`. */
export function contextRows(log: ContextLog, messages: readonly Message[], seq: number): readonly ContextRow[] {
  const cached = new Map(messages.map((message) => [message.id, message]));
  const arrivals = log.arrivals.filter(({ from }) => from <= seq);
  const newest = new Map(arrivals.map((arrival) => [arrival.id, arrival]));
  const rows: ContextRow[] = [];
  for (const [index, arrival] of arrivals.entries()) {
    const { id, prunings } = arrival;
    const pruned = prunings.findLast(({ at }) => at <= seq);
    const key = `${index}`;
    const message = newest.get(id) === arrival ? cached.get(id) : undefined;
    if (message !== undefined) rows.push({ key, message, arrival, pruned: null });
    else if (pruned !== undefined) rows.push({ key, message: arrival.message, arrival, pruned: pruned.operation });
  }
  for (const message of messages)
    if (!newest.has(message.id)) rows.push({ key: message.id, message, arrival: null, pruned: null });
  return rows;
}

/** The message as it was before an operation, given by its index. */
export function versionBefore(log: ContextLog, { id, operation: added, message }: Arrival, operation: number): Message {
  const earlier = log
    .about(id)
    .filter((number) => number > added && number < operation)
    .flatMap((number) => log.operations[number]?.operation ?? [])
    .filter((one) => one.operation !== 'ADD' && one.operation !== 'PRUNE');
  return applyOperations([message], earlier)[0] ?? message;
}

/** A consent request and its resolution; null while it is open. */
export interface Consent {
  readonly askedAt: number;
  readonly request: ConsentRequest;
  readonly resolved: EntryOf<'consent-resolved'> | null;
}

/** The latest consent requests up to an entry, in order; at most one of them is open. */
export function consentsAt(log: RunLog, entries: EntryIndex, seq: number, max: number): readonly Consent[] {
  const all = entries.of('consent-asked');
  const count = countUpTo(all, seq);
  const askedAt = all.slice(Math.max(0, count - max), count);
  const resolutions = entries.of('consent-resolved');
  return askedAt.flatMap((at, index) => {
    const entry = log.entry(at);
    if (entry.type !== 'consent-asked') return [];
    const end = askedAt[index + 1] ?? seq;
    const answer = lastUpTo(resolutions, end);
    const resolved = answer !== undefined && answer > at ? log.entry(answer) : null;
    return [{ askedAt: at, request: entry.request, resolved: resolved?.type === 'consent-resolved' ? resolved : null }];
  });
}
