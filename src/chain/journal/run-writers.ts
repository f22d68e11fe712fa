import type { DurableEntry } from '../../durable/entries.ts';
import { guardedWriter } from '../../durable/journals/guarded-writer.ts';
import type { JournalStore, JournalWriter } from '../../durable/journals/journal-store.ts';

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
  readonly store: JournalStore;
  of(runId: string): RunWriter;
  /** Whether the journal of a run is complete, so that another process can continue it. */
  isComplete(runId: string): boolean;
  /** Creates the journal of a run before the run starts. Throws if the store does. */
  reserve(runId: string): void;
}

const UNSTORED: RunWriter = { failure: null, isFenced: false, onFailure: () => {} };

/** Writes the journals of runs to the store of a chain, if it has one. They have no keyframes, because a run needs its first notes. */
export function createRunWriters(
  journals: JournalStore | undefined,
  requireResumable: (entries: readonly DurableEntry[]) => void = () => {},
): RunWriters {
  const writers = new Map<string, RunWriter>();

  function writerOf(runId: string, given: JournalWriter): JournalWriter {
    const writer = guardedWriter(given);
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
      write(entries) {
        const written = writer.write(entries);
        return written === undefined ? check() : written.then(check);
      },
      close() {
        writers.delete(runId);
        return writer.close();
      },
    };
  }

  const reserved = new Map<string, JournalWriter>();

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
      async open(runId, { fromKeyframe: _, ...options } = {}) {
        if (journals === undefined) throw new TypeError('a chain without journals opens none');
        const { entries, writer } = await journals.open(runId, options);
        try {
          requireResumable(entries);
        } catch (error) {
          await writer.close();
          throw error;
        }
        return { entries, writer: writerOf(runId, writer) };
      },
      async *read(runId) {
        yield* journals?.read(runId) ?? [];
      },
      list: async (options) => journals?.list(options) ?? [],
    },
  };
}
