import { type StateChange, withChanges } from '../../src/inspection/state-changes.ts';
import type { StateFrame } from '../../src/inspection/wire.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

interface CachedState {
  readonly whole: number;
  /** The last frame it contains. */
  readonly seq: number;
  readonly state: unknown;
}

/** The number of cached states: at the cursor, the compared one, and one more. */
const CACHE_SIZE = 3;

/** The states of a run's chart, or of a system (`SystemState`): frames from the server or the exported file. */
export class StateLog {
  /** As JSON, which takes a third of the memory, by the entry that each follows. */
  readonly #frames = new Map<number, string>();
  /** The entries that a frame follows, ascending, and those whose frame is a whole state. */
  readonly #seqs: number[] = [];
  readonly #whole: number[] = [];
  #cached: readonly CachedState[] = [];

  get count(): number {
    return this.#frames.size;
  }

  #put(seq: number, frame: string, isWhole: boolean): void {
    if (!this.#frames.has(seq)) insert(this.#seqs, seq);
    if (isWhole && lastUpTo(this.#whole, seq) !== seq) insert(this.#whole, seq);
    this.#frames.set(seq, frame);
    this.#cached = this.#cached.filter((one) => one.seq < seq);
  }

  /** The state after an entry. Returns the same object while nothing changes; null before the first known state. */
  at(seq: number): unknown {
    const whole = lastUpTo(this.#whole, seq);
    if (whole === undefined) return null;
    const end = countUpTo(this.#seqs, seq);
    const last = this.#seqs[end - 1] ?? whole;
    const same = this.#cached.find((one) => one.seq === last);
    if (same !== undefined) return same.state;
    const near = this.#cached
      .filter((one) => one.whole === whole && one.seq < last)
      .reduce<CachedState | null>((best, one) => (best === null || one.seq > best.seq ? one : best), null);
    let state: unknown = near?.state ?? null;
    for (const at of this.#seqs.slice(countUpTo(this.#seqs, near?.seq ?? whole - 1), end)) {
      const frame = JSON.parse(this.#frames.get(at) ?? 'null') as StateFrame;
      state = 'state' in frame ? frame.state : withChanges(state, frame.changes);
    }
    this.#cached = [{ whole, seq: last, state }, ...this.#cached].slice(0, CACHE_SIZE);
    return state;
  }

  /** The first known state at or after an entry: the one after everything that the same event caused. Null until that state arrives. */
  after(seq: number): unknown {
    const next = this.#seqs[countUpTo(this.#seqs, seq - 1)];
    return next === undefined ? null : this.at(next);
  }

  /** Adds frames, each as JSON; `from` is the number of the first. With 0, they replace the known ones: a step may have been withdrawn since. Returns the entries that the new ones follow. */
  add(from: number, lines: readonly string[]): readonly number[] {
    const added = new Set<number>();
    if (from === 0) {
      this.#frames.clear();
      this.#cached = [];
      this.#seqs.length = this.#whole.length = 0;
    }
    for (const line of lines) {
      const frame = frameIn(line);
      if (frame === null) continue;
      added.add(frame.seq);
      const before = this.#frames.get(frame.seq);
      // A run can change more than once without an entry.
      if (before === undefined || 'state' in frame) this.#put(frame.seq, line, 'state' in frame);
      else this.#put(frame.seq, JSON.stringify(merged(JSON.parse(before) as StateFrame, frame.changes)), false);
    }
    return [...added];
  }
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
