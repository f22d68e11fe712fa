import { type ReadonlySignal, signal } from '@preact/signals';

interface Entries {
  readonly from: number;
  readonly to: number;
}

export interface RangeSelection {
  readonly entries: ReadonlySignal<Entries | null>;
  set(entries: Entries): void;
  /** Starts a range at an entry that follows the cursor, or ends it there. */
  mark(seq: number): void;
  follow(seq: number): void;
  clear(): void;
}

export function createRangeSelection(): RangeSelection {
  const entries = signal<Entries | null>(null);
  let start: number | null = null;

  function follow(seq: number): void {
    if (start !== null) entries.value = { from: Math.min(start, seq), to: Math.max(start, seq) };
  }

  return {
    entries,
    follow,
    set(range) {
      start = null;
      entries.value = range;
    },
    mark(seq) {
      if (start === null) {
        start = seq;
        follow(seq);
      } else {
        follow(seq);
        start = null;
      }
    },
    clear() {
      start = null;
      entries.value = null;
    },
  };
}
