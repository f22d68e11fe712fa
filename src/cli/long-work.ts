import { cutEnd, oneLine } from '../internal/printable.ts';
import { CLEAR_LINE, columnsOf } from './screen.ts';

/** A status line for work that may take long. */
export interface LongWork {
  /** Shows the text and the elapsed time, at most five times a second. */
  update(text: string): void;
  end(): void;
}

const SHOWN_AFTER_MS = 2_000;
const UPDATE_EVERY_MS = 200;

/** Returns a status line that appears after two seconds if `out` is a terminal. `now` returns milliseconds. */
export function createLongWork(out: NodeJS.WriteStream = process.stderr, now = () => performance.now()): LongWork {
  const startMs = now();
  let shownMs = 0;
  return {
    update(text) {
      const atMs = now() - startMs;
      if (!out.isTTY || atMs < SHOWN_AFTER_MS || (shownMs > 0 && atMs - shownMs < UPDATE_EVERY_MS)) return;
      shownMs = atMs;
      out.write(`${CLEAR_LINE}${cutEnd(`${oneLine(text)} (${Math.round(atMs / 1000)} s)`, columnsOf(out))}`);
    },
    end() {
      if (shownMs > 0) out.write(CLEAR_LINE);
      shownMs = 0;
    },
  };
}

export async function whileWorking<Value>(text: string, work: Promise<Value>): Promise<Value> {
  const line = createLongWork();
  const timer = setInterval(() => line.update(text), UPDATE_EVERY_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    line.end();
  }
}
