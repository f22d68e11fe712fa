import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { ActorSummary } from '../../durable/durable-format.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import { guardedWriter } from '../../durable/journals/guarded-writer.ts';
import type { JournalStore as StoreOf } from '../../durable/journals/journal-store.ts';
import type { JournalStore, JournalWriter } from './journal-format.ts';
import { readEntry, storedEntry } from './stored-entries.ts';

/**
 * The state of a run's journal. A run continues if its journal fails, so its actor does not learn of it, unless another process has taken the
 * run over: then the actor is closed.
 */
interface RunWriter {
  readonly failure: string | null;
  readonly isFenced: boolean;
  onFailure: (failure: string) => void;
}

/** The writers of the runs of a chain. */
export interface RunWriters {
  readonly store: StoreOf<DurableEntry, ActorSummary>;
  of(runId: string): RunWriter;
  /** Whether the journal of a run is complete, so that another process can continue it. */
  isComplete(runId: string): boolean;
  /** Creates the journal of a run before the run starts. Throws if the store does. */
  reserve(runId: string): void;
}

const UNSTORED: RunWriter = { failure: null, isFenced: false, onFailure: () => {} };

/** Stores the entries of durable actors in the journals of runs. */
export function createRunWriters(
  journals: JournalStore | undefined,
  requireResumable: (entries: readonly JournalEntry[]) => void = () => {},
): RunWriters {
  const writers = new Map<string, RunWriter>();

  function writerOf(runId: string, given: JournalWriter) {
    const writer = guardedWriter<JournalEntry>(given);
    const state: RunWriter = {
      get failure() {
        return writer.failure;
      },
      get isFenced() {
        return writer.isFenced === true;
      },
      onFailure: () => {},
    };
    writers.set(runId, state);
    let hasFailed = false;
    const check = (): void => {
      if (hasFailed || writer.failure === null) return;
      hasFailed = true;
      state.onFailure(writer.failure);
    };
    return {
      get failure() {
        return state.isFenced ? state.failure : null;
      },
      get isFenced() {
        return state.isFenced;
      },
      write(entries: readonly DurableEntry[]) {
        const written = writer.write(entries.map(readEntry));
        return written === undefined ? check() : written.then(check);
      },
      close() {
        writers.delete(runId);
        return writer.close();
      },
    };
  }

  const reserved = new Map<string, ReturnType<typeof writerOf>>();

  return {
    of: (runId) => writers.get(runId) ?? { ...UNSTORED },
    isComplete: (runId) => journals !== undefined && writers.get(runId)?.failure === null,
    reserve(runId) {
      if (journals !== undefined) reserved.set(runId, writerOf(runId, journals.create(runId)));
    },
    store: {
      create(runId) {
        if (journals === undefined) return { failure: null, write: () => {}, close: () => {} };
        const writer = reserved.get(runId) ?? writerOf(runId, journals.create(runId));
        reserved.delete(runId);
        return writer;
      },
      async open(runId, options) {
        if (journals === undefined) throw new TypeError('a chain without journals opens none');
        const { entries, writer } = await journals.open(runId, options);
        try {
          requireResumable(entries);
        } catch (error) {
          await writer.close();
          throw error;
        }
        return { entries: entries.map(storedEntry), writer: writerOf(runId, writer) };
      },
      async *read(runId) {
        for await (const entry of journals?.read(runId) ?? []) yield storedEntry(entry);
      },
      list: async () => [],
    },
  };
}
