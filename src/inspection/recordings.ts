import type { JournalStore, RunStart, RunSummary } from '../../machines/contracts/journal.ts';

import { entriesOf } from '../journal/journal-lines.ts';
import { linesFrom } from '../journal/journal-store.ts';
import { fidelityOf } from './fidelity.ts';
import { problemOf } from './problem.ts';
import { runCharts } from './run-charts.ts';
import { FRAME_CHARS, type RunSource, type SourceSink } from './source.ts';

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

interface RecordedRun extends RunSource {
  /** What its store says of it now. */
  update(summary: RunSummary): void;
}

const ELSEWHERE = 'It is under way elsewhere: what is shown is what was written when it was opened.';

/**
 * A run whose journal is kept. What its record leaves out stands in its first entry: it is known once it was opened, and `changed` hears
 * of that.
 */
function recordedRun(first: RunSummary, journals: JournalStore, changed: () => void): RecordedRun {
  const { runId } = first;
  let summary = first;
  let fidelity: readonly string[] = [];

  function learn(lacks: readonly string[]): void {
    if (lacks.join() === fidelity.join()) return;
    fidelity = lacks;
    changed();
  }

  /** Read as it is sent: a journal may be larger than what one wants in memory. */
  async function read(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    let frame: string[] = [];
    let chars = 0;
    let problem: string | null = null;
    try {
      let seq = -1;
      for await (const line of linesFrom(journals, runId)) {
        if (isStopped()) return;
        seq += 1;
        if (seq === 0) learn(fidelityOf(JSON.parse(line) as RunStart));
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
    if (!isStopped()) sink.end(problem);
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
