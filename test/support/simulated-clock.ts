import { SimulatedClock } from 'xstate';

/** A simulated clock that knows its open timers, and can jump to the next one. */
export class TestClock extends SimulatedClock {
  readonly #dueAt = new Map<number, number>();

  /** How many timers were set and have neither fired nor been cleared. */
  get openTimers(): number {
    return this.#dueAt.size;
  }

  /** When the next timer fires, or null if none is open. */
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

/** The first time at which XState's clock fires a timer: the sum may have been rounded down. */
function dueAt(startMs: number, timeoutMs: number): number {
  let due = startMs + timeoutMs;
  while (due - startMs < timeoutMs) due += due * 2 ** -52;
  return due;
}

/** Timers of the test's own parts, on the same clock but counted separately from the engine's. */
export class ExternalTimers {
  readonly #open = new Set<number>();
  readonly #clock: TestClock;

  constructor(clock: TestClock) {
    this.#clock = clock;
  }

  get open(): number {
    return this.#open.size;
  }

  now(): number {
    return this.#clock.now();
  }

  /** Resolves after this time, or as soon as the signal aborts. */
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

/** Resolves after every promise that can settle without time has settled. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs a loop or a chain until it ends. Time advances only when `progress` stops growing. */
export async function runToEnd(isActive: () => boolean, clock: TestClock, progress: () => number): Promise<void> {
  for (let idle = 0; isActive(); ) {
    const before = progress();
    await nextTurn();
    idle = progress() > before ? 0 : idle + 1;
    if (idle <= 2 || !isActive()) continue;
    if (clock.nextAt === null) throw new Error('the run hangs: no timer is open');
    clock.set(clock.nextAt);
  }
}
