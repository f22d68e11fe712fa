import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry, RunStatus } from '../../machines/contracts/journal.ts';
import { watchStates } from '../chain/journal/state-at.ts';
import type { Run } from '../chain/runtime/run.ts';
import type { BlockedText } from './recorded-run.ts';
import { recordingsOf } from './recordings.ts';
import { FiguresFold } from './run-figures.ts';
import { aboutRun, frameWriter, logWithStates, problemOf, type RunSource, runCharts } from './source.ts';
import type { InspectedStore } from './stored-runs.ts';
import type { ReplayHost } from './systems/recorded-states.ts';
import type { InspectedRun, StateFrame } from './wire.ts';

/** How many ended watched runs stay in memory. */
const MAX_ENDED = 32;

/** How often pages get the list while the recordings are first read: rendering each of 10,000 changes would take long. */
const READING_MS = 400;

/** Everything that a page can open. */
export interface RunList {
  /** Returns the changes of the list since a revision (-1 for the whole list), as a `runs` message; null if there are none. */
  since(revision: number): RunListChange | null;
  /** Returns the summaries of all runs, newest first. */
  all(): readonly InspectedRun[];
  /** Finds a source; refreshes the recordings first if the run is unknown. */
  find(runId: string): Promise<RunSource | undefined>;
  /** `isFirst`: pages open this run first; by default they do. */
  watch(run: Run, isFirst?: boolean): void;
  /** Adds a source, replacing one with the same id. Returns a function that removes it. */
  add(source: RunSource): () => void;
  /** Sets the run that pages open first; by default the one watched last. */
  choose(runId: string): void;
  changed(runId: string): void;
  refresh(runIds?: readonly string[]): Promise<void>;
  /** Deletes a recorded run. Rejects with `journal_held` if it is in progress, `unknown_journal`, or `invalid_option` if the store cannot delete. */
  remove(runId: string): Promise<void>;
  /** Calls the listener after each change. The recordings are watched while there are listeners. Returns a function that removes it. */
  listen(listener: () => void): () => void;
}

interface RunListChange {
  readonly revision: number;
  /** JSON. */
  readonly message: string;
}

export function runList(
  journals: InspectedStore | null,
  hosts: readonly ReplayHost[] = [],
  blocked?: BlockedText,
): RunList {
  const sources = new Map<string, RunSource>();
  const listeners = new Set<() => void>();
  const ended: (() => void)[] = [];
  const recordings = recordingsOf(journals, changed, changedAll, { hosts, blocked });
  /** The summary of each run as JSON; null if the run is gone. The latest change is last. */
  const summaries = new Map<string, { readonly revision: number; readonly json: string | null }>();
  let stopWatching: (() => void) | null = null;
  let revision = 0;
  let chosen: string | null = null;
  let watched: string | null = null;
  let notifiedAtMs = 0;

  function changed(runId: string): void {
    const source = sources.get(runId) ?? recordings.find(runId);
    const json = source === undefined ? null : JSON.stringify(source.info());
    const before = summaries.get(runId);
    if ((before?.json ?? null) === json) return;
    revision += 1;
    summaries.delete(runId);
    summaries.set(runId, { revision, json });
    notify();
  }

  function notify(): void {
    if (recordings.unread > 0 && performance.now() - notifiedAtMs < READING_MS) return;
    notifiedAtMs = performance.now();
    for (const listener of listeners) listener();
  }

  function changedAll(): void {
    revision += 1;
    notify();
  }

  function add(source: RunSource): () => void {
    const { runId } = source.info();
    sources.set(runId, source);
    changed(runId);
    return () => {
      if (sources.get(runId) !== source) return;
      sources.delete(runId);
      changed(runId);
    };
  }

  return {
    all: () =>
      [...summaries.values()]
        .flatMap(({ json }) => (json === null ? [] : [JSON.parse(json) as InspectedRun]))
        .toSorted((one, other) => (one.startedAt < other.startedAt ? 1 : -1)),
    since(from) {
      if (from >= revision && from >= 0) return null;
      const found: string[] = [];
      const removed: string[] = [];
      for (const [runId, { revision: at, json }] of summaries) {
        if (at <= from) continue;
        if (json !== null) found.push(json);
        else if (from >= 0) removed.push(runId);
      }
      const first = chosen ?? watched;
      const isThere = first !== null && typeof summaries.get(first)?.json === 'string';
      const { unread } = recordings;
      const rest = JSON.stringify({ removed, isAll: from < 0, chosen: isThere ? first : null, unread });
      return { revision, message: `{"type":"runs","runs":[${found.join()}],${rest.slice(1)}` };
    },
    async find(runId) {
      if (!sources.has(runId) && recordings.find(runId) === undefined) await recordings.refresh([runId]);
      return sources.get(runId) ?? recordings.find(runId);
    },
    watch(run, isFirst = true) {
      const before = sources.get(run.id) as Partial<LiveRun> | undefined;
      if (before?.run === run) return;
      const source = liveRun(run, () => changed(run.id));
      if (isFirst) watched = run.id;
      const remove = add(source);
      changedAll();
      void source.ended.then(async () => {
        await recordings.refresh([run.id]);
        if (ended.push(remove) > MAX_ENDED) ended.shift()?.();
        changed(run.id);
      });
    },
    add,
    choose(runId) {
      chosen = runId;
      changedAll();
    },
    changed,
    refresh: recordings.refresh,
    async remove(runId) {
      if (sources.get(runId)?.info().live)
        throw new PostChainError('journal_held', 'The run is in progress and cannot be deleted; wait until it ends.');
      await recordings.remove(runId);
      sources.delete(runId);
      changed(runId);
    },
    listen(listener) {
      listeners.add(listener);
      stopWatching ??= recordings.watch();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        stopWatching?.();
        stopWatching = null;
      };
    },
  };
}

/** The entries after which the summary of a live run is sent again. */
const SUMMARIZED: ReadonlySet<JournalEntry['type']> = new Set([
  'phase-start',
  'phase-end',
  'consent-asked',
  'consent-resolved',
  'approval-asked',
  'approval-resolved',
  'direction-asked',
  'decision',
  'end',
]);

interface LiveRun extends RunSource {
  readonly run: Run;
  readonly ended: Promise<void>;
}

function liveRun(run: Run, changed: () => void): LiveRun {
  const frames: StateFrame[] = [];
  const write = frameWriter();
  watchStates(run, (after) => void frames.push(write(after)));
  const log = logWithStates(run.entries, frames);
  let status: RunStatus = 'running';
  let isLive = true;
  const [start] = run.entries;
  const fold = start?.type === 'start' ? new FiguresFold(start, true) : null;

  async function listen(): Promise<void> {
    let problem: string | null = null;
    try {
      for await (const event of run.events) {
        if (!('seq' in event)) continue;
        fold?.take(event);
        if (event.type === 'end') status = event.summary.status;
        if (SUMMARIZED.has(event.type)) changed();
        log.notify();
      }
    } catch (error) {
      problem = problemOf(error);
    }
    const last = run.entries.at(-1);
    if (status === 'running') status = last?.type === 'closed' && last.waiting ? 'waiting' : 'interrupted';
    isLive = false;
    log.end(problem);
    changed();
  }

  const about =
    start?.type === 'start' ? aboutRun(start) : ({ kind: 'run', title: '', startedAt: '', fidelity: [] } as const);

  return {
    run,
    ended: listen(),
    info() {
      const waiting = fold?.wait();
      const summary = fold?.figures() ?? null;
      return { runId: run.id, ...about, status, live: isLive, summary, ...(waiting && { waiting }) };
    },
    charts: runCharts,
    follow: log.follow,
    send(event) {
      if (!isLive)
        throw new PostChainError('invalid_option', `The run has ended (${status}); it accepts no more events.`);
      // The run validates the event.
      run.send(event as ChainEvent);
    },
    entries: async () => [...run.entries],
  };
}
