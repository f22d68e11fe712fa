import { SimulatedClock } from 'xstate';

/** A simulated clock that knows which timers wait, and can go to the next of them. */
export class PatientClock extends SimulatedClock {
  readonly #dueAt = new Map<number, number>();

  get waiting(): number {
    return this.#dueAt.size;
  }

  override setTimeout(fn: (...args: unknown[]) => void, timeout: number): number {
    const id = super.setTimeout(() => {
      this.#dueAt.delete(id);
      fn();
    }, timeout);
    this.#dueAt.set(id, this.now() + timeout);
    return id;
  }

  override clearTimeout(id: number): void {
    this.#dueAt.delete(id);
    super.clearTimeout(id);
  }

  /** Goes to the time of the next timer; false where none waits. */
  goOn(): boolean {
    if (this.#dueAt.size === 0) return false;
    this.increment(Math.max(0, Math.min(...this.#dueAt.values()) - this.now()));
    return true;
  }
}

/** Lets a loop or a run come to its end; time passes only when nothing else happens. `seen` grows with whatever happens. */
export async function runOut(isActive: () => boolean, clock: PatientClock, seen: () => number): Promise<void> {
  for (let idle = 0; isActive(); ) {
    const before = seen();
    await turn();
    idle = seen() > before ? 0 : idle + 1;
    if (idle > 2 && isActive() && !clock.goOn()) throw new Error('it hangs, and no timer waits');
  }
}

/** Lets every promise that can settle do so. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
