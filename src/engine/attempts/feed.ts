/** How an update joins those that wait to be read: it may push out what it makes stale. */
export type Merge<Update> = (waiting: UpdateQueue<Update>, update: Update) => void;

export interface Feed<Update> {
  push(update: Update): void;
  /** No more updates; with an error, readers get that at the end of theirs. */
  end(error?: Error): void;
  open(): Reader<Update>;
  readonly readers: number;
}

/** One reader's place. `next` may be called before the last one has settled; each gets an update of its own. */
export interface Reader<Update> {
  /** Whether `next` has something to give: an update, or the error that ends them. Waits until that is known. */
  hasNext(): Promise<boolean>;
  next(): Promise<IteratorResult<Update, undefined>>;
  close(): void;
}

/**
 * Updates for any number of readers. Nobody is waited for: what a slow reader has not read yet is merged with what comes. One who
 * comes late begins with `late`, which is kept by a merge of its own.
 */
export function createFeed<Update>(merge: Merge<Update>, mergeLate: Merge<Update>): Feed<Update> {
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
      let told = false;
      const close = (): void => {
        queues.delete(queue);
        told = true;
        queue.wake();
      };
      return {
        close,
        async hasNext() {
          while (queue.waiting.isEmpty && end === null && !told) await queue.arrival();
          return !queue.waiting.isEmpty || (!told && end?.error != null);
        },
        async next() {
          for (;;) {
            const update = queue.waiting.take();
            if (update !== undefined) return { done: false, value: update };
            if (told || end !== null) break;
            await queue.arrival();
          }
          const error = told ? null : end?.error;
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

/** A feed for `for await`: whoever begins to read is told to `start`, and whoever stops early to `left`. */
export function iterableOf<Update>(feed: Feed<Update>, start: () => void, left: () => void): AsyncIterable<Update> {
  return {
    [Symbol.asyncIterator]() {
      let reader: Reader<Update> | null = null;
      let isOver = false;
      return {
        async next() {
          if (isOver) return { done: true, value: undefined };
          reader ??= feed.open();
          start();
          return reader.next();
        },
        async return() {
          isOver = true;
          reader?.close();
          left();
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** Updates that wait to be read, first in first out. Each takes the same time, however many wait. */
export class UpdateQueue<Update> {
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
