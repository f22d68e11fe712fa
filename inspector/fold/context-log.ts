import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import { operationList, startMessages } from '../../src/chain/journal/context-history.ts';

/** What was done to the context of a run, and every message that it ever had. */
export class ContextLog {
  readonly #list = operationList();
  readonly #byId = new Map<string, Message>();
  readonly operations = this.#list.listed;
  /** The entry that applied each of them. */
  readonly seqs: number[] = [];
  readonly arrivals: { readonly from: number; readonly message: Message }[] = [];

  #add(message: Message, from: number): void {
    if (this.#byId.has(message.id)) return;
    this.#byId.set(message.id, message);
    this.arrivals.push({ from, message });
  }

  messageOf(id: string): Message | undefined {
    return this.#byId.get(id);
  }

  take(entry: JournalEntry): void {
    for (const message of startMessages(entry)) this.#add(message, entry.seq);
    this.#list.take(entry);
    if (entry.type !== 'operations') return;
    for (const operation of entry.applied) {
      this.seqs.push(entry.seq);
      if (operation.operation === 'ADD') this.#add(operation.data.message, entry.seq);
    }
  }
}
