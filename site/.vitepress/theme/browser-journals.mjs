import { memoryJournals } from 'postchain/durable';

const STORE = 'journals';
/** How long a process that was just killed may still hold the lock, in milliseconds. */
const LOCK_MS = 3_000;

/** Resolves when this page or worker has the lock, which the browser releases when it ends. */
const lock = (name) =>
  new Promise((resolve, reject) => {
    const hold = () => {
      resolve();
      return new Promise(() => {});
    };
    navigator.locks.request(name, { signal: AbortSignal.timeout(LOCK_MS) }, hold).catch(() => {
      reject(new Error('Another page has the process. Close that page and reload this one.'));
    });
  });

const settled = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

/**
 * Opens a store of journals in IndexedDB, for one page or worker at a time, which keeps a copy in memory. `onWrite` is called after entries are
 * stored.
 */
export async function browserJournals(name, onWrite = () => {}) {
  await lock(name);
  const opening = indexedDB.open(name);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await settled(opening);
  /** Resolves when the change is stored. */
  const change = (act) =>
    new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
      act(transaction.objectStore(STORE));
    });

  const { prune: _, ...memory } = memoryJournals();
  const store = database.transaction(STORE).objectStore(STORE);
  const [ids, journals] = await Promise.all([settled(store.getAllKeys()), settled(store.getAll())]);
  ids.forEach((id, at) => {
    const writer = memory.create(id);
    writer.write(journals[at]);
    writer.close();
  });

  /** Writes to the database first, and then to memory. */
  function writerOf(id, writer, entries) {
    let failure = null;
    return {
      get failure() {
        return failure ?? writer.failure;
      },
      get isFenced() {
        return writer.isFenced;
      },
      keyframeEvery: writer.keyframeEvery,
      async write(added, isLast) {
        if (this.failure !== null) return;
        entries.push(...added);
        try {
          await change((journal) => journal.put(entries, id));
        } catch (error) {
          failure = error.message;
          return;
        }
        await writer.write(added, isLast);
        onWrite();
      },
      close: () => writer.close(),
    };
  }

  return {
    ...memory,
    create: (id) => writerOf(id, memory.create(id), []),
    async open(id, options) {
      const { writer, ...opened } = await memory.open(id, options);
      const entries = [];
      for await (const entry of memory.read(id)) entries.push(entry);
      return { ...opened, writer: writerOf(id, writer, entries) };
    },
    async delete(id) {
      await memory.delete(id);
      await change((journal) => journal.delete(id));
    },
  };
}
