import { type StateChange, withChanges } from '../../src/inspection/state-changes.ts';
import type { StateFrame } from '../../src/inspection/wire.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** The states of a run's chart, or of a system (`SystemState`): frames from the server or the exported file. */
export interface StateLog {
  readonly count: number;
  /** The state after an entry. Returns the same object while nothing changes; null before the first known state. */
  at(seq: number): unknown;
  /** The first known state at or after an entry: the one after everything that the same event caused. Null until that state arrives. */
  after(seq: number): unknown;
  /** Adds frames, each as JSON; `from` is the number of the first. Known ones are skipped. Returns the entries that the new ones follow. */
  add(from: number, frames: readonly string[]): readonly number[];
}

interface CachedState {
  readonly whole: number;
  /** The last frame it contains. */
  readonly seq: number;
  readonly state: unknown;
}

/** The number of cached states: at the cursor, the compared one, and one more. */
const CACHE_SIZE = 3;

export function createStateLog(): StateLog {
  /** As JSON, which takes a third of the memory, by the entry that each follows. */
  const frames = new Map<number, string>();
  /** The entries that a frame follows, ascending, and those whose frame is a whole state. */
  const seqs: number[] = [];
  const whole: number[] = [];
  let received = 0;
  let cached: CachedState[] = [];

  function put(seq: number, frame: string, isWhole: boolean): void {
    if (!frames.has(seq)) insert(seqs, seq);
    if (isWhole && lastUpTo(whole, seq) !== seq) insert(whole, seq);
    frames.set(seq, frame);
    cached = cached.filter((one) => one.seq < seq);
  }

  function at(seq: number): unknown {
    const from = lastUpTo(whole, seq);
    if (from === undefined) return null;
    const end = countUpTo(seqs, seq);
    const last = seqs[end - 1] ?? from;
    const same = cached.find((one) => one.seq === last);
    if (same !== undefined) return same.state;
    const near = cached
      .filter((one) => one.whole === from && one.seq < last)
      .reduce<CachedState | null>((best, one) => (best === null || one.seq > best.seq ? one : best), null);
    let state: unknown = near?.state ?? null;
    for (const at of seqs.slice(near === null ? countUpTo(seqs, from) - 1 : countUpTo(seqs, near.seq), end)) {
      const frame = JSON.parse(frames.get(at) ?? 'null') as StateFrame;
      state = 'state' in frame ? frame.state : withChanges(state, frame.changes);
    }
    cached = [{ whole: from, seq: last, state }, ...cached].slice(0, CACHE_SIZE);
    return state;
  }

  return {
    get count() {
      return frames.size;
    },
    at,
    after(seq) {
      const next = seqs[countUpTo(seqs, seq - 1)];
      return next === undefined ? null : at(next);
    },
    add(from, lines) {
      const added = new Set<number>();
      for (const line of lines.slice(Math.max(0, received - from))) {
        received += 1;
        const frame = frameIn(line);
        if (frame === null) continue;
        added.add(frame.seq);
        const before = frames.get(frame.seq);
        // A run can change more than once without an entry.
        if (before === undefined || 'state' in frame) put(frame.seq, line, 'state' in frame);
        else put(frame.seq, JSON.stringify(merged(JSON.parse(before) as StateFrame, frame.changes)), false);
      }
      return [...added];
    },
  };
}

/** The frame with further changes after the same entry. */
function merged(before: StateFrame, changes: readonly StateChange[]): StateFrame {
  return 'state' in before
    ? { ...before, state: withChanges(before.state, changes) }
    : { ...before, changes: [...before.changes, ...changes] };
}

function frameIn(line: string): StateFrame | null {
  try {
    const frame = JSON.parse(line) as StateFrame | null;
    return Number.isSafeInteger(frame?.seq) ? frame : null;
  } catch {
    return null;
  }
}

/** Inserts a number into an ascending list; usually it belongs at the end. */
function insert(list: number[], item: number): void {
  if ((list.at(-1) ?? -1) < item) list.push(item);
  else list.splice(countUpTo(list, item), 0, item);
}
