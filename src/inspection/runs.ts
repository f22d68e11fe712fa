import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalStore, RunStatus } from '../../machines/contracts/journal.ts';

import type { Run } from '../engine/runtime/run.ts';
import { fidelityOf } from './fidelity.ts';
import { lineLog } from './line-log.ts';
import { problemOf } from './problem.ts';
import { recordingsOf } from './recordings.ts';
import { runCharts } from './run-charts.ts';
import type { RunSource } from './source.ts';
import type { InspectedRun, ServerMessage } from './wire.ts';

/** Runs that are over and were watched stay to be looked at, so many of them: a program that runs for long would keep them all. */
const MAX_OVER = 32;

/** All that can be opened, from wherever it comes. */
export interface RunList {
  /** The list as pages are told it, as JSON: made once for all of them. */
  message(): string;
  /** Waits for a look at what is kept where the run is not known. */
  find(runId: string): Promise<RunSource | undefined>;
  watch(run: Run): void;
  /** Adds a source of another kind, in place of one with the same id. Gives what takes it away. */
  add(source: RunSource): () => void;
  /** Which one a page opens first; by itself the one that was watched last. */
  choose(runId: string): void;
  /** The list, or how a run in it stands, is another one. */
  changed(): void;
  /** Looks what is kept. */
  refresh(): Promise<void>;
  /** Calls it after each change. Gives what ends that. */
  listen(listener: () => void): () => void;
}

export function runList(journals: JournalStore | null): RunList {
  const sources = new Map<string, RunSource>();
  const listeners = new Set<() => void>();
  const over: (() => void)[] = [];
  const recordings = recordingsOf(journals, changed);
  let chosen: string | null = null;
  let watched: string | null = null;
  let message: string | null = null;

  function changed(): void {
    message = null;
    for (const listener of listeners) listener();
  }

  function add(source: RunSource): () => void {
    const { runId } = source.info();
    sources.set(runId, source);
    changed();
    return () => {
      if (sources.get(runId) !== source) return;
      sources.delete(runId);
      changed();
    };
  }

  /** What is watched here stands in place of its recording: it knows more. */
  function all(): readonly InspectedRun[] {
    const kept = [...recordings.all()].map((recording) => recording.info());
    return [...sources.values()]
      .map((source) => source.info())
      .concat(kept.filter(({ runId }) => !sources.has(runId)))
      .toSorted(newestFirst);
  }

  return {
    message() {
      if (message !== null) return message;
      const runs = all();
      const first = chosen ?? watched;
      const isThere = runs.some(({ runId }) => runId === first);
      message = JSON.stringify({ type: 'runs', runs, chosen: isThere ? first : null } satisfies ServerMessage);
      return message;
    },
    async find(runId) {
      if (!sources.has(runId) && recordings.find(runId) === undefined) await recordings.refresh();
      return sources.get(runId) ?? recordings.find(runId);
    },
    watch(run) {
      const before = sources.get(run.runId) as Partial<LiveRun> | undefined;
      if (before?.run === run) return;
      const source = liveRun(run);
      watched = run.runId;
      const remove = add(source);
      void source.over.then(() => {
        if (over.push(remove) > MAX_OVER) over.shift()?.();
        changed();
        return recordings.refresh();
      });
    },
    add,
    choose(runId) {
      chosen = runId;
      changed();
    },
    changed,
    refresh: recordings.refresh,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const newestFirst = (one: InspectedRun, other: InspectedRun): number =>
  one.startedAt < other.startedAt ? 1 : one.startedAt > other.startedAt ? -1 : 0;

interface LiveRun extends RunSource {
  readonly run: Run;
  /** Resolves when the run is over. */
  readonly over: Promise<void>;
}

/** A run of this process, under way or over. */
function liveRun(run: Run): LiveRun {
  const log = lineLog(run.journal);
  let status: RunStatus = 'running';
  let isLive = true;

  async function listen(): Promise<void> {
    let problem: string | null = null;
    try {
      for await (const event of run.events) {
        if (event.type === 'partial') continue;
        if (event.type === 'run-end') status = event.status;
        log.grew();
      }
    } catch (error) {
      problem = problemOf(error);
    }
    if (status === 'running') status = 'interrupted';
    isLive = false;
    log.end(problem);
  }

  const [start] = run.journal;
  const begun: Pick<InspectedRun, 'title' | 'startedAt' | 'fidelity'> =
    start?.type === 'run-start'
      ? {
          title: start.request,
          startedAt: start.forkedFrom?.forkedAt ?? start.startedAt,
          fidelity: fidelityOf(start),
        }
      : { title: '', startedAt: '', fidelity: [] };

  return {
    run,
    over: listen(),
    info: () => ({ runId: run.runId, kind: 'run', ...begun, status, live: isLive }),
    charts: runCharts,
    follow: log.follow,
    send(event) {
      if (!isLive)
        throw new PostChainError('invalid_option', `The run is over (${status}): it can be told nothing more.`);
      // What is no event it refuses itself.
      run.send(event as ChainEvent);
    },
    entries: async () => [...run.journal],
  };
}
