import { SimulatedClock } from 'xstate';

/** A simulated clock that knows which of its timers are open, and can go to the next one. */
export class CountingClock extends SimulatedClock {
  readonly #dueAt = new Map<number, number>();

  /** Timers that were set, and have neither fired nor been cleared. */
  get open(): number {
    return this.#dueAt.size;
  }

  /** When the next timer fires; null, there is none. */
  get nextAt(): number | null {
    return this.#dueAt.size === 0 ? null : Math.min(...this.#dueAt.values());
  }

  override setTimeout(fn: (...args: unknown[]) => void, timeout: number): number {
    const id = super.setTimeout(() => {
      this.#dueAt.delete(id);
      fn();
    }, timeout);
    this.#dueAt.set(id, dueAt(this.now(), timeout));
    return id;
  }

  override clearTimeout(id: number): void {
    this.#dueAt.delete(id);
    super.clearTimeout(id);
  }
}

/** What is no part of the engine, on the same clock: its timers are counted apart. */
export class World {
  readonly #open = new Set<number>();
  readonly #clock: CountingClock;

  constructor(clock: CountingClock) {
    this.#clock = clock;
  }

  get open(): number {
    return this.#open.size;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Waits, or ends with the signal. */
  wait(ms: number, signal: AbortSignal | null = null): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const over = (): void => {
        this.#clock.clearTimeout(timer);
        this.#open.delete(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = this.#clock.setTimeout(over, ms);
      this.#open.add(timer);
      signal?.addEventListener('abort', over);
    });
  }
}

/** The first time that counts as late enough: a sum may be rounded down. */
function dueAt(startMs: number, timeoutMs: number): number {
  let due = startMs + timeoutMs;
  while (due - startMs < timeoutMs) due += due * 2 ** -52;
  return due;
}
