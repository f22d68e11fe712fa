import type { JournalStore } from '../../../machines/contracts/journal-store.ts';

type ReadLines = (runId: string) => AsyncIterable<string>;

const known = new WeakMap<JournalStore, ReadLines>();

/** A store that has the text of its entries at hand. One that is made out of it, with another `read` say, has not. */
export function withLines(store: JournalStore, readLines: ReadLines): JournalStore {
  known.set(store, readLines);
  return store;
}

/** The entries of a run in order, each as its JSON: for who hands them on. Rejects as `read` does. */
export async function* linesFrom(store: JournalStore, runId: string): AsyncGenerator<string> {
  const readLines = known.get(store);
  if (readLines !== undefined) yield* readLines(runId);
  else for await (const entry of store.read(runId)) yield JSON.stringify(entry);
}
