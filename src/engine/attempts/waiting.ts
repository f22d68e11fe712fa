/** Updates that wait to be read, first in first out. Each takes the same time, however many wait. */
export class Waiting<Update> {
  #updates: Update[] = [];
  #read = 0;

  constructor(updates: Iterable<Update> = []) {
    this.#updates = [...updates];
  }

  /** The newest one that is not read; undefined where none is. */
  get last(): Update | undefined {
    return this.isEmpty ? undefined : this.#updates.at(-1);
  }

  get isEmpty(): boolean {
    return this.#read === this.#updates.length;
  }

  add(update: Update): void {
    this.#updates.push(update);
  }

  dropLast(): void {
    if (!this.isEmpty) this.#updates.pop();
  }

  clear(): void {
    this.#updates = [];
    this.#read = 0;
  }

  /** The oldest, which is read by that. */
  take(): Update | undefined {
    if (this.isEmpty) return undefined;
    const update = this.#updates[this.#read];
    this.#read += 1;
    // Let go of what was read, now and then: to move the rest for each would cost its length each time.
    if (this.#read * 2 > this.#updates.length) {
      this.#updates = this.#updates.slice(this.#read);
      this.#read = 0;
    }
    return update;
  }

  [Symbol.iterator](): Iterator<Update> {
    return this.#updates.slice(this.#read)[Symbol.iterator]();
  }
}
