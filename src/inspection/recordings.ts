import type { JournalStore } from '../../machines/contracts/journal-store.ts';
import { type RecordedRun, recordedRun } from './recorded-run.ts';

/** The runs of a store. */
export interface Recordings {
  all(): Iterable<RecordedRun>;
  find(runId: string): RecordedRun | undefined;
  /** Looks what there is. A store that cannot be read leaves what was known. */
  refresh(): Promise<void>;
}

export function recordingsOf(journals: JournalStore | null, changed: () => void): Recordings {
  let known = new Map<string, RecordedRun>();
  let current = Promise.resolve();
  let next: Promise<void> | null = null;

  async function look(): Promise<void> {
    next = null;
    try {
      const found = await (journals?.list() ?? []);
      known = new Map(found.map((summary) => [summary.runId, recordingOf(summary)]));
      changed();
    } catch {
      // It is looked at again the next time.
    }
  }

  function recordingOf(summary: Parameters<RecordedRun['update']>[0]): RecordedRun {
    const recording = known.get(summary.runId) ?? recordedRun(summary, journals as JournalStore, changed);
    recording.update(summary);
    return recording;
  }

  return {
    all: () => known.values(),
    find: (runId) => known.get(runId),
    refresh() {
      // One that is under way may have looked too early: those who ask meanwhile share the one after it.
      next ??= current = current.then(look);
      return next;
    },
  };
}
