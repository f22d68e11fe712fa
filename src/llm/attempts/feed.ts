/** Adds an update to a reader's queue; it may remove updates that are stale now. */
export type Merge<Update> = (waiting: UpdateQueue<Update>, update: Update) => void;

export interface Feed<Update> {
  push(update: Update): void;
  /** Ends the feed. Readers get the error after their remaining updates. */
  end(error?: Error): void;
  open(): Reader<Update>;
  readonly readers: number;
}

/** One reader's position. `next` may be called again before it has settled; each call gets its own update. */
export interface Reader<Update> {
  /** Resolves to whether `next` has an update or an error; waits until that is known. */
  hasNext(): Promise<boolean>;
  next(): Promise<IteratorResult<Update, undefined>>;
  close(): void;
}

/**
 * Returns a feed of updates for any number of readers. It never waits for a slow reader: `merge` combines unread updates with new
 * ones. A reader that starts late begins with a queue that `mergeLate` maintains.
 */
export function createUpdateFeed<Update>(merge: Merge<Update>, mergeLate: Merge<Update>): Feed<Update> {
  const queues = new Set<Queue<Update>>();
  const late = new UpdateQueue<Update>();
  let end: { readonly error: Error | null } | null = null;
  return {
    push(update) {
      mergeLate(late, update);
      for (const queue of queues) {
        merge(queue.waiting, update);
        queue.wake();
      }
    },
    end(error) {
      end = { error: error ?? null };
      if (error !== undefined) late.clear();
      for (const queue of queues) queue.wake();
    },
    get readers() {
      return queues.size;
    },
    open() {
      const queue = createQueue(late);
      queues.add(queue);
      let closed = false;
      const close = (): void => {
        queues.delete(queue);
        closed = true;
        queue.wake();
      };
      return {
        close,
        async hasNext() {
          while (queue.waiting.isEmpty && end === null && !closed) await queue.arrival();
          return !queue.waiting.isEmpty || (!closed && end?.error != null);
        },
        async next() {
          for (;;) {
            const update = queue.waiting.take();
            if (update !== undefined) return { done: false, value: update };
            if (closed || end !== null) break;
            await queue.arrival();
          }
          const error = closed ? null : end?.error;
          close();
          if (error != null) throw error;
          return { done: true, value: undefined };
        },
      };
    },
  };
}

interface Queue<Update> {
  readonly waiting: UpdateQueue<Update>;
  arrival(): Promise<void>;
  wake(): void;
}

function createQueue<Update>(first: Iterable<Update>): Queue<Update> {
  let sleepers: (() => void)[] = [];
  return {
    waiting: new UpdateQueue(first),
    arrival: () =>
      new Promise((resolve) => {
        sleepers.push(resolve);
      }),
    wake() {
      const woken = sleepers;
      sleepers = [];
      for (const resolve of woken) resolve();
    },
  };
}

/** A first-in, first-out queue with amortized constant time per update. */
export class UpdateQueue<Update> {
  #updates: Update[] = [];
  #read = 0;

  constructor(updates: Iterable<Update> = []) {
    this.#updates = [...updates];
  }

  /** The newest unread update. */
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

  take(): Update | undefined {
    if (this.isEmpty) return undefined;
    const update = this.#updates[this.#read];
    this.#read += 1;
    // Drop read updates only now and then: shifting the rest every time would cost its length.
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
