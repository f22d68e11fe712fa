import type { Message } from '../../src/durable/journals/mailbox.ts';
import { type DurableEntry, type JournalStore, type JournalWriter, memoryJournals } from '../../src/entries/durable.ts';
import { writeJournal } from './journal-files.ts';

export interface Stored {
  readonly journals: ReadonlyMap<string, readonly DurableEntry[]>;
  readonly mail: ReadonlyMap<string, readonly Message[]>;
}

export const NOTHING: Stored = { journals: new Map(), mail: new Map() };

/**
 * The store of a process with a copy of what an earlier one has stored. The process dies after a number of writes (an entry, a message, the removal
 * of messages): it then stores nothing and never answers.
 */
export async function mortalStore({ journals, mail }: Stored, life = Number.POSITIVE_INFINITY) {
  const inner = memoryJournals();
  const box = inner.mail as NonNullable<typeof inner.mail>;
  for (const [id, entries] of journals) await writeJournal(inner, id, entries);
  for (const [to, messages] of mail) for (const message of messages) await box.post(to, message.id, message);
  let count = 0;
  let isDead = false;
  const lives = (): boolean => {
    isDead ||= count >= life;
    if (!isDead) count += 1;
    return !isDead;
  };
  const never = new Promise<never>(() => {});
  const mortal = (writer: JournalWriter): JournalWriter => ({
    ...writer,
    failure: null,
    write(entries) {
      for (const entry of entries) {
        if (!lives()) return never;
        void writer.write([entry]);
      }
      return undefined;
    },
  });
  const store: JournalStore = {
    ...inner,
    create: (id) => mortal(inner.create(id)),
    open: async (id, options) => {
      const opened = await inner.open(id, options);
      return { ...opened, writer: mortal(opened.writer) };
    },
    mail: {
      ...box,
      post: (...given) => (lives() ? box.post(...given) : never),
      remove: (...given) => (lives() ? box.remove(...given) : never),
    },
  };
  return {
    store,
    count: () => count,
    isDead: () => isDead,
    async stored(): Promise<Stored> {
      const found = { journals: new Map<string, DurableEntry[]>(), mail: new Map<string, readonly Message[]>() };
      for (const { id, lastSeq } of await inner.list()) {
        if (lastSeq < 0) continue;
        const entries: DurableEntry[] = [];
        for await (const entry of inner.read(id)) entries.push(JSON.parse(JSON.stringify(entry)));
        found.journals.set(id, entries);
        const messages = (await box.read(id)) as readonly Message[];
        if (messages.length > 0) found.mail.set(id, messages);
      }
      return found;
    },
  };
}
