import { actionMachine } from '../../machines/action/action.machine.ts';
import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { chainMachine } from '../../machines/chain/chain.machine.ts';
import type { JournalEntry, RunStart, RunSummary } from '../../machines/contracts/journal.ts';
import { firstChars } from '../../machines/text/clip.ts';
import { chartVersion } from '../chain/journal/replay.ts';
import { withPictures } from '../chain/journal/run-journal.ts';
import { originOf, startedAtOf } from '../chain/journal/run-start.ts';
import type { StateAfter } from '../chain/journal/state-at.ts';
import { chartOf } from '../durable/charts/chart.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { JournalBounds } from '../durable/journals/journal-store.ts';
import { oneLine } from '../internal/printable.ts';
import { changesBetween } from './state-changes.ts';
import type { InspectedActor } from './systems/actor-actions.ts';
import type { InspectedRun, RunCharts, SentLines, StateFrame } from './wire.ts';

/** Something that a page can open: a live run, a recording, or an observed system of other XState actors. */
export interface RunSource {
  /** A source notifies its list of every change. */
  info(): InspectedRun;
  charts(): RunCharts;
  /**
   * Sends the sink all entries from this number on, including future ones, and then the end. Sends nothing before it returns, or after it is
   * stopped. Each follower has its own pace. Never throws: an error becomes the `problem` of the end.
   */
  follow(from: number, sink: SourceSink): StopFollowing;
  /** Sends an event. Throws a PostChainError if the source does not accept it. Absent if it accepts no events. */
  send?(event: unknown): void;
  /** Returns all current entries. Rejects if they cannot be read. Absent if the source is not a run. */
  entries?(): Promise<readonly JournalEntry[]>;
  /** Like `entries`, for an actor of any machine in a store. */
  actorEntries?(): Promise<readonly DurableEntry[]>;
  /** Returns the actor with the durable machine that acts on it. Throws `invalid_option` if there is none; the message says what to do. */
  hosted?(): InspectedActor;
}

/** A run or an actor in a store. */
export interface RecordedSource extends RunSource {
  readonly version: string | null;
  /** Takes the latest state of the store. Returns whether the summary has changed. */
  update(run: JournalBounds): boolean;
  /** Whether all entries must be read: for the figures, or for the damage. */
  needsCount(): boolean;
  /** Whether reading all entries would add figures, and is quick. */
  wantsCount(): boolean;
  /** Counts the figures of the entries since the last call. */
  count(): Promise<void>;
}

export interface SourceSink {
  /** Takes the next entries, each as JSON. Resolves when the sink is ready for more. */
  lines(lines: readonly string[], about: SentLines): Promise<void>;
  /** Whether a source that computes states by replaying the run sends them. If absent, it sends those of a short run. */
  readonly needsStates?: boolean | undefined;
  /** Takes the next state frames, each as JSON, from number `from` on. */
  states(from: number, frames: readonly string[]): Promise<void>;
  /** The charts have changed. Happens only for systems. */
  charts(charts: RunCharts): void;
  /** No more entries follow. `problem`: why the rest cannot be read. */
  end(problem: string | null): void;
}

export type StopFollowing = () => void;

/** The approximate size of a batch of lines: small enough to arrive quickly, large enough to keep batches few. */
export const FRAME_CHARS = 262_144;

/** A growing list of entries with many followers, each at its own position. */
export interface LineLog {
  /** Notifies followers of new entries: once per turn of the event loop, and every few milliseconds in a long turn. */
  notify(): void;
  /** No more entries follow. */
  end(problem?: string | null): void;
  follow(from: number, sink: SourceSink): StopFollowing;
}

/** Short, because the process may then compute for several frames, and its new entries would arrive late. */
const LONG_TURN_MS = 1;

/** Returns a log over a list that others append to. An entry is serialized on first use, once for all followers. */
export function lineLog(entries: readonly unknown[], format: Pick<SentLines, 'format'> = {}): LineLog {
  const signal = changeSignal();
  let followers = 0;
  let lines: string[] = [];
  let ended: { readonly problem: string | null } | null = null;
  let isWaking = false;
  let wokenAt = 0;

  function wake(): void {
    isWaking = false;
    wokenAt = performance.now();
    signal.wake();
  }

  /** A run with an immediate model may end within one turn, so a long turn wakes followers at once. */
  function wakeSoon(): void {
    if (followers === 0) return;
    if (performance.now() - wokenAt > LONG_TURN_MS) wake();
    else if (!isWaking) {
      isWaking = true;
      setImmediate(wake);
    }
  }

  function lineAt(at: number): string {
    lines[at] ??= JSON.stringify(withPictures(entries[at] as JournalEntry));
    return lines[at];
  }

  function frameAt(from: number): readonly string[] {
    const frame: string[] = [];
    for (let chars = 0; chars < FRAME_CHARS && from + frame.length < entries.length; ) {
      const line = lineAt(from + frame.length);
      chars += line.length;
      frame.push(line);
    }
    return frame;
  }

  async function feed(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    // The follower must receive the charts first.
    await Promise.resolve();
    for (let at = from; !isStopped(); ) {
      const changed = signal.next();
      if (at < entries.length) {
        const frame = frameAt(at);
        at += frame.length;
        await sink.lines(frame, { more: at < entries.length, ...format });
      } else if (ended !== null) {
        return sink.end(ended.problem);
      } else {
        await changed;
      }
    }
  }

  return {
    notify: wakeSoon,
    end(problem = null) {
      ended ??= { problem };
      wakeSoon();
    },
    follow(from, sink) {
      let isStopped = false;
      followers += 1;
      feed(from, sink, () => isStopped)
        .catch((error: unknown) => {
          if (!isStopped) sink.end(problemOf(error));
        })
        .finally(() => {
          followers -= 1;
          if (followers === 0) lines = [];
        });
      return () => {
        isStopped = true;
        signal.wake();
      };
    },
  };
}

/** A frame contains the whole state after this many frames, or more for a large state, so that reading any state takes few frames. */
const WHOLE_STATE_FRAMES = 256;
const CHARS_PER_FRAME = 150;

/** Returns a function that returns the state if its frame must be whole, and otherwise null. */
export function wholeFrames(): (state: () => unknown) => unknown {
  let untilWhole = 0;
  return (state) => {
    untilWhole -= 1;
    if (untilWhole > 0) return null;
    const whole = state();
    untilWhole = Math.max(WHOLE_STATE_FRAMES, Math.ceil(JSON.stringify(whole).length / CHARS_PER_FRAME));
    return whole;
  };
}

/** Returns a function that makes a frame of each state. Consecutive states must share the objects that did not change. */
export function frameWriter(): (after: Pick<StateAfter, 'seq'> & { readonly state: unknown }) => StateFrame {
  const isWholeDue = wholeFrames();
  let before: unknown = null;
  return ({ seq, state }) => {
    const whole = isWholeDue(() => state);
    const frame: StateFrame = whole === null ? { seq, changes: changesBetween(before, state) } : { seq, state };
    before = state;
    return frame;
  };
}

/** A log of entries, and of the state frames that belong to them. Its end follows both. */
export function logWithStates(
  entries: readonly unknown[],
  frames: readonly StateFrame[],
  format?: Pick<SentLines, 'format'>,
): LineLog {
  const logs = { lines: lineLog(entries, format), states: lineLog(frames) };
  return {
    notify() {
      logs.lines.notify();
      logs.states.notify();
    },
    end(problem) {
      logs.states.end();
      logs.lines.end(problem);
    },
    follow(from, sink) {
      let sent = 0;
      let open = sink.needsStates === false ? 1 : 2;
      const end = (problem: string | null): void => {
        if (open === 0) return;
        open = problem === null ? open - 1 : 0;
        if (open === 0) sink.end(problem);
      };
      const frameSink = {
        ...sink,
        end,
        async lines(lines: readonly string[]): Promise<void> {
          const first = sent;
          sent += lines.length;
          await sink.states(first, lines);
        },
      };
      const stops = [
        logs.lines.follow(from, { ...sink, end }),
        ...(sink.needsStates === false ? [] : [logs.states.follow(0, frameSink)]),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

let runChartsCache: RunCharts | null = null;

export function runCharts(): RunCharts {
  runChartsCache ??= {
    charts: [chainMachine, attemptMachine, actionMachine].map(chartOf),
    invoked: { attempt: attemptMachine.id, action: actionMachine.id },
  };
  return runChartsCache;
}

export const forkOf = (forkedFrom: RunSummary['forkedFrom']): Pick<InspectedRun, 'forkedFrom'> =>
  forkedFrom ? { forkedFrom: { runId: forkedFrom.actorId, seq: forkedFrom.seq } } : {};

/** Returns what the first entry of a run says about it. */
export const aboutRun = (start: RunStart) =>
  ({
    kind: 'run',
    title: start.input.request,
    startedAt: startedAtOf(start),
    fidelity: limitationsOf(start),
    ...forkOf(originOf(start)),
  }) satisfies Partial<InspectedRun>;

/** Returns what the journal of a run omits, one sentence each. */
export function limitationsOf({ machine, product }: RunStart): readonly string[] {
  return [
    ...(machine.digest === chartVersion().digest
      ? []
      : ['The chart has changed since the run was recorded; the current chart is shown.']),
    ...(product.redacted ? ['The journal was redacted when it was written; streamed text is left out.'] : []),
  ];
}

/** Lets readers wait for a change. `next` is a promise of the next call of `wake`: get it before reading, so that no change is missed. */
export function changeSignal() {
  let resolve = (): void => {};
  let next = Promise.resolve();
  const renew = (): void => {
    next = new Promise((done) => {
      resolve = done;
    });
  };
  renew();
  return {
    next: (): Promise<void> => next,
    wake(): void {
      resolve();
      renew();
    },
  };
}

const MAX_PROBLEM_CHARS = 500;

export function problemOf(error: unknown): string {
  return (
    firstChars(oneLine(error instanceof Error ? error.message : String(error)), MAX_PROBLEM_CHARS) || 'unknown error'
  );
}
