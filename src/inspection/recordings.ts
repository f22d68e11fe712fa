import { PostChainError } from '../../machines/contracts/error.ts';
import { isStartOfRun } from '../chain/journal/run-journal.ts';
import { durableFormat } from '../durable/durable-format.ts';
import { type JournalBounds, listedJournal } from '../durable/journals/journal-store.ts';
import { repeat } from '../durable/journals/line-store.ts';
import { type BlockedText, RecordedRun } from './recorded-run.ts';
import type { RecordedSource, RunSource } from './source.ts';
import { boundsOf, changesOf, type InspectedStore } from './stored-runs.ts';
import { RecordedActor, type StartedIn } from './systems/recorded-actor.ts';
import type { ReplayHost } from './systems/recorded-states.ts';

export interface Recordings {
  all(): Iterable<RunSource>;
  find(runId: string): RunSource | undefined;
  /** How many runs the first reading has found but not read yet. */
  readonly unread: number;
  /** Reads the given runs again, by default all. If the store cannot be read, the old list stays. */
  refresh(runIds?: readonly string[]): Promise<void>;
  /** Deletes a run that no process is writing. */
  remove(runId: string): Promise<void>;
  /** Keeps the list up to date. Returns a function that stops it. */
  watch(): () => void;
}

/** How often runs in progress are checked: their process may die. */
const CHECK_MS = 1_000;

/**
 * Returns the runs and durable actors in a store and in the stores of `hosts`. `changed` receives the id of each that is new, has changed or
 * is gone; `allRead` is called whenever a store has been read for the first time.
 */
export function recordingsOf(
  journals: InspectedStore | null,
  changed: (runId: string) => void,
  allRead: () => void,
  { hosts = [], blocked }: { readonly hosts?: readonly ReplayHost[]; readonly blocked?: BlockedText | undefined } = {},
): Recordings {
  const stores = new Set([...(journals === null ? [] : [journals]), ...hosts.map((host) => host.journals)]);
  const byStore = new Map<unknown, Recordings>();
  const startedIn: StartedIn = (store, id) => byStore.get(store)?.find(id)?.info().startedAt;
  for (const store of stores) byStore.set(store, recordingsIn(store, changed, allRead, { hosts, startedIn, blocked }));
  const each = [...byStore.values()];
  const holding = (runId: string): Recordings | undefined => each.find(({ find }) => find(runId) !== undefined);
  return {
    all: () => each.flatMap(({ all }) => [...all()]),
    find: (runId) => holding(runId)?.find(runId),
    get unread() {
      return each.reduce((sum, { unread }) => sum + unread, 0);
    },
    async refresh(runIds) {
      await Promise.all(each.map(({ refresh }) => refresh(runIds)));
    },
    async remove(runId) {
      const recordings = holding(runId) ?? each[0];
      if (recordings === undefined) throw cannotDelete();
      await recordings.remove(runId);
    },
    watch() {
      const stops = each.map(({ watch }) => watch());
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

function recordingsIn(
  journals: InspectedStore,
  changed: (runId: string) => void,
  allRead: () => void,
  about: {
    readonly hosts: readonly ReplayHost[];
    readonly startedIn: StartedIn;
    readonly blocked: BlockedText | undefined;
  },
): Recordings {
  const known = new Map<string, RecordedSource>();
  const counter = createCounter();
  let current = Promise.resolve();
  let next: Promise<void> | null = null;
  let isFirst = true;
  let unread = 0;

  /** Journals that have not changed since they were read come without `ends`. A new journal of the other kind may reuse an id. */
  function recordingOf(run: JournalBounds): RecordedSource {
    const { id, ends } = run;
    const before = known.get(id);
    const isActor = durableFormat.summarize(listedJournal(run)).machine !== null && !isStartOfRun(ends?.first);
    if (before !== undefined && (ends === null || before instanceof RecordedActor === isActor)) return before;
    const onChange = (): void => changed(id);
    return isActor
      ? new RecordedActor(id, journals, onChange, about)
      : new RecordedRun(id, journals, onChange, about.blocked);
  }

  async function read(runIds?: readonly string[]): Promise<void> {
    const missing = new Set(runIds ?? known.keys());
    try {
      for await (const run of boundsOf(journals, {
        ids: runIds,
        isKnown: (id, version) => known.get(id)?.version === version,
        onFound: (count) => {
          unread = isFirst ? count : 0;
        },
      })) {
        unread = Math.max(0, unread - 1);
        missing.delete(run.id);
        const recording = recordingOf(run);
        known.set(run.id, recording);
        if (recording.update(run)) changed(run.id);
        // Without `tail`, each would be read from the start each time.
        if (journals.tail && (recording.needsCount() || (!isFirst && recording.wantsCount()))) counter.add(recording);
      }
      for (const runId of missing) {
        if (known.delete(runId)) changed(runId);
      }
    } catch {
      // The next refresh tries again.
    }
    if (runIds !== undefined || !isFirst) return;
    isFirst = false;
    unread = 0;
    allRead();
    if (journals.tail)
      for (const recording of newest(known.values())) if (recording.wantsCount()) counter.add(recording);
  }

  function refresh(runIds?: readonly string[]): Promise<void> {
    if (runIds !== undefined) {
      current = current.then(() => read(runIds));
      return current;
    }
    // A running refresh may have missed a change, so callers share the next one.
    next ??= current = current.then(() => {
      next = null;
      return read();
    });
    return next;
  }

  return {
    all: () => known.values(),
    find: (runId) => known.get(runId),
    get unread() {
      return unread;
    },
    refresh,
    async remove(runId) {
      if (journals.delete === undefined) throw cannotDelete();
      await journals.delete(runId);
      await refresh([runId]);
    },
    watch() {
      const stopWatching = changesOf(journals, (runIds) => void refresh(runIds ?? undefined));
      const stopChecking = repeat(() => {
        const running = [...known].flatMap(([runId, source]) => (source.info().status === 'running' ? [runId] : []));
        if (running.length > 0) void refresh(running);
      }, CHECK_MS);
      return () => {
        stopWatching();
        stopChecking();
      };
    },
  };
}

const cannotDelete = (): PostChainError =>
  new PostChainError('invalid_option', 'This journal store cannot delete runs.');

/** How many runs may wait to be read for their figures. */
const MAX_COUNTED = 200;

/** The newest runs are read in full, to find damage between their first and their last line. */
const newest = (runs: Iterable<RecordedSource>): readonly RecordedSource[] =>
  [...runs]
    .map((run) => ({ run, startedAt: run.info().startedAt }))
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
    .slice(0, MAX_COUNTED)
    .map(({ run }) => run);

/** Reads the runs whose last line does not contain their figures, or is damaged, one at a time. */
function createCounter() {
  const waiting = new Set<RecordedSource>();
  let isBusy = false;
  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (const run of waiting) {
      waiting.delete(run);
      await run.count();
    }
    isBusy = false;
  }
  return {
    add(run: RecordedSource): void {
      if (waiting.size < MAX_COUNTED) waiting.add(run);
      void work();
    },
  };
}
