import { PostChainError } from '../../machines/contracts/error.ts';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalStore, RunStart, RunStatus, RunSummary } from '../../machines/contracts/journal.ts';
import type { Run } from '../engine/runtime/run.ts';
import { entriesOf } from '../journal/journal-lines.ts';
import { linesFrom } from '../journal/journal-store.ts';
import { stateSteps, watchStates } from '../journal/state-at.ts';
import {
  FRAME_CHARS,
  frameWriter,
  limitationsOf,
  lineLog,
  problemOf,
  type RunSource,
  runCharts,
  type SourceSink,
} from './source.ts';
import type { InspectedRun, ServerMessage, StateFrame } from './wire.ts';

/** How many ended watched runs stay in memory. */
const MAX_ENDED = 32;

/** Everything that a page can open. */
export interface RunList {
  /** Returns the `runs` message as JSON, cached until the list changes. */
  message(): string;
  /** Finds a source; refreshes the recordings first if the run is unknown. */
  find(runId: string): Promise<RunSource | undefined>;
  watch(run: Run): void;
  /** Adds a source, replacing one with the same id. Returns a function that removes it. */
  add(source: RunSource): () => void;
  /** Sets the run that pages open first; by default the one watched last. */
  choose(runId: string): void;
  /** Notifies listeners of a change. */
  changed(): void;
  /** Reads the list of recordings again. */
  refresh(): Promise<void>;
  /** Calls the listener after each change. Returns a function that removes it. */
  listen(listener: () => void): () => void;
}

export function runList(journals: JournalStore | null): RunList {
  const sources = new Map<string, RunSource>();
  const listeners = new Set<() => void>();
  const ended: (() => void)[] = [];
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

  /** A watched run replaces its recording. */
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
      void source.ended.then(() => {
        if (ended.push(remove) > MAX_ENDED) ended.shift()?.();
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
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
}

/** Returns a run of this process as a source. */
function liveRun(run: Run): LiveRun {
  const log = lineLog(run.journal);
  const frames: StateFrame[] = [];
  const write = frameWriter();
  watchStates(run, (after) => void frames.push(write(after)));
  const states = lineLog(frames);
  let status: RunStatus = 'running';
  let isLive = true;

  async function listen(): Promise<void> {
    let problem: string | null = null;
    try {
      for await (const event of run.events) {
        if (event.type === 'partial') continue;
        if (event.type === 'run-end') status = event.status;
        log.notify();
        states.notify();
      }
    } catch (error) {
      problem = problemOf(error);
    }
    if (status === 'running') status = 'interrupted';
    isLive = false;
    states.end();
    log.end(problem);
  }

  const [start] = run.journal;
  const summary: Pick<InspectedRun, 'title' | 'startedAt' | 'fidelity'> =
    start?.type === 'run-start'
      ? {
          title: start.request,
          startedAt: start.forkedFrom?.forkedAt ?? start.startedAt,
          fidelity: limitationsOf(start),
        }
      : { title: '', startedAt: '', fidelity: [] };

  return {
    run,
    ended: listen(),
    info: () => ({ runId: run.runId, kind: 'run', ...summary, status, live: isLive, summary: null }),
    charts: runCharts,
    follow(from, sink) {
      let sent = 0;
      const stopStates = states.follow(0, {
        ...sink,
        async lines(frames: readonly string[]) {
          const first = sent;
          sent += frames.length;
          await sink.states(first, frames);
        },
        end: () => {},
      });
      const stopEntries = log.follow(from, sink);
      return () => {
        stopStates();
        stopEntries();
      };
    },
    send(event) {
      if (!isLive)
        throw new PostChainError('invalid_option', `The run has ended (${status}); it accepts no more events.`);
      // The run validates the event.
      run.send(event as ChainEvent);
    },
    entries: async () => [...run.journal],
  };
}

/** The runs of a store. */
interface Recordings {
  all(): Iterable<RecordedRun>;
  find(runId: string): RecordedRun | undefined;
  /** Reads the list again. If the store cannot be read, the old list stays. */
  refresh(): Promise<void>;
}

function recordingsOf(journals: JournalStore | null, changed: () => void): Recordings {
  let known = new Map<string, RecordedRun>();
  let current = Promise.resolve();
  let next: Promise<void> | null = null;

  async function readList(): Promise<void> {
    next = null;
    try {
      const found = await (journals?.list() ?? []);
      known = new Map(found.map((summary) => [summary.runId, recordingOf(summary)]));
      changed();
    } catch {
      // The next refresh tries again.
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
      // A running refresh may have missed a change, so callers share the next one.
      next ??= current = current.then(readList);
      return next;
    },
  };
}

interface RecordedRun extends RunSource {
  /** Replaces the summary. */
  update(summary: RunSummary): void;
}

/** How long computing states may keep the event loop busy. */
const TURN_MS = 12;

const ELSEWHERE = 'The run is still running in another process; only entries written before it was opened are shown.';

/** Returns a stored run as a source. Its limitations depend on its first entry, so they are known only once it was read. */
function recordedRun(first: RunSummary, journals: JournalStore, changed: () => void): RecordedRun {
  const { runId } = first;
  let summary = first;
  let fidelity: readonly string[] = [];

  function setFidelity(sentences: readonly string[]): void {
    if (sentences.join() === fidelity.join()) return;
    fidelity = sentences;
    changed();
  }

  /** Streams the journal: it may not fit in memory. */
  async function read(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    let frame: string[] = [];
    let chars = 0;
    let problem: string | null = null;
    const read: string[] = [];
    try {
      let seq = -1;
      for await (const line of linesFrom(journals, runId)) {
        if (isStopped()) return;
        seq += 1;
        read.push(line);
        if (seq === 0) setFidelity(limitationsOf(JSON.parse(line) as RunStart));
        if (seq < from) continue;
        frame.push(line);
        chars += line.length;
        if (chars < FRAME_CHARS) continue;
        await sink.lines(frame);
        if (isStopped()) return;
        frame = [];
        chars = 0;
      }
    } catch (error) {
      problem = problemOf(error);
    }
    if (!isStopped() && frame.length > 0) await sink.lines(frame);
    if (problem === null) await sendStates(read, sink, isStopped);
    if (!isStopped()) sink.end(problem);
  }

  /** Computes the states while other work runs in between. A journal that cannot be replayed is shown without them. */
  async function sendStates(lines: readonly string[], sink: SourceSink, isStopped: () => boolean): Promise<void> {
    const write = frameWriter();
    let frames: string[] = [];
    let sent = 0;
    let startedAtMs = performance.now();
    const pause = async (): Promise<void> => {
      await sink.states(sent, frames);
      sent += frames.length;
      frames = [];
      await new Promise((resolve) => setImmediate(resolve));
      startedAtMs = performance.now();
    };
    try {
      const steps = stateSteps(lines.map((line) => JSON.parse(line)));
      for (let step = steps.next(); !isStopped(); step = steps.next()) {
        if (step.done) {
          if (step.value !== null) setFidelity([...fidelity, step.value]);
          break;
        }
        frames.push(...step.value.map((after) => JSON.stringify(write(after))));
        if (performance.now() - startedAtMs > TURN_MS) await pause();
      }
    } catch (error) {
      setFidelity([...fidelity, `The state of the run is unknown: ${problemOf(error)}`]);
    }
    if (!isStopped() && frames.length > 0) await pause();
  }

  return {
    info: () => ({
      runId,
      kind: 'run',
      title: summary.request,
      startedAt: summary.startedAt,
      status: summary.status,
      live: false,
      fidelity: summary.status === 'running' ? [...fidelity, ELSEWHERE] : fidelity,
      summary: null,
    }),
    charts: runCharts,
    follow(from, sink) {
      let stopped = false;
      void read(from, sink, () => stopped);
      return () => {
        stopped = true;
      };
    },
    entries: () => entriesOf(journals.read(runId)),
    update(now) {
      summary = now;
    },
  };
}
