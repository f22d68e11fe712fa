import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { type ListedOperation, operationList, startMessages } from '../../src/chain/journal/context-history.ts';

/** What was done to the context of a run, and every message that it ever had. */
export interface ContextLog {
  readonly operations: readonly ListedOperation[];
  /** The entry that applied each of them. */
  readonly seqs: readonly number[];
  /** The messages with the entries that added them. */
  readonly arrivals: readonly { readonly from: number; readonly message: Message }[];
  messageOf(id: string): Message | undefined;
}

export function createContextLog(): { readonly log: ContextLog; take(entry: JournalEntry): void } {
  const { listed, take } = operationList();
  const seqs: number[] = [];
  const arrivals: { readonly from: number; readonly message: Message }[] = [];
  const byId = new Map<string, Message>();

  function add(message: Message, from: number): void {
    if (byId.has(message.id)) return;
    byId.set(message.id, message);
    arrivals.push({ from, message });
  }

  return {
    log: { operations: listed, seqs, arrivals, messageOf: (id) => byId.get(id) },
    take(entry) {
      for (const message of startMessages(entry)) add(message, entry.seq);
      take(entry);
      if (entry.type !== 'operations') return;
      for (const operation of entry.applied) {
        seqs.push(entry.seq);
        if (operation.operation === 'ADD') add(operation.data.message, entry.seq);
      }
    },
  };
}
