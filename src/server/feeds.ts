/** Reads a journal, and yields items as it grows, until its end. */
type Read<Item> = (id: string, options: { readonly signal: AbortSignal }) => AsyncIterable<Item>;

/** The items of journals, for any number of readers. */
export interface Feeds<Item> {
  /**
   * Yields the items of a journal from the beginning, and then as they are stored, until its end. All readers share one read of the journal.
   * Ends early when the signal aborts.
   */
  items(id: string, signal: AbortSignal): AsyncGenerator<Item, void>;
}

interface Feed<Item> {
  items: Item[];
  /** How many items came before those. */
  dropped: number;
  readonly arrivals: Set<() => void>;
  readonly ending: AbortController;
  readers: number;
  isOver: boolean;
  failure: unknown;
}

/** With `latestOnly`, each item replaces those before it: a new or slow reader gets only the latest one. */
export function createFeeds<Item>(read: Read<Item>, { latestOnly = false } = {}): Feeds<Item> {
  const feeds = new Map<string, Feed<Item>>();

  function open(id: string): Feed<Item> {
    const feed: Feed<Item> = {
      items: [],
      dropped: 0,
      arrivals: new Set(),
      ending: new AbortController(),
      readers: 0,
      isOver: false,
      failure: null,
    };
    feeds.set(id, feed);
    void fill(id, feed);
    return feed;
  }

  async function fill(id: string, feed: Feed<Item>): Promise<void> {
    try {
      for await (const item of read(id, { signal: feed.ending.signal })) {
        if (latestOnly) feed.dropped += feed.items.splice(0).length;
        feed.items.push(item);
        wake(feed);
      }
    } catch (error) {
      feed.failure = error;
    }
    feed.isOver = true;
    // The next reader reads the journal again: there may be another one with this id by then.
    if (feeds.get(id) === feed) feeds.delete(id);
    wake(feed);
  }

  return {
    async *items(id, signal) {
      const feed = feeds.get(id) ?? open(id);
      feed.readers += 1;
      const wakeAll = (): void => wake(feed);
      signal.addEventListener('abort', wakeAll);
      try {
        for (let next = 0; !signal.aborted; ) {
          next = Math.max(next, feed.dropped);
          const item = feed.items[next - feed.dropped];
          if (item !== undefined) {
            next += 1;
            yield item;
          } else if (feed.failure !== null) throw feed.failure;
          else if (feed.isOver) return;
          else await new Promise<void>((resolve) => feed.arrivals.add(resolve));
        }
      } finally {
        signal.removeEventListener('abort', wakeAll);
        feed.readers -= 1;
        if (feed.readers === 0) {
          feed.ending.abort();
          if (feeds.get(id) === feed) feeds.delete(id);
        }
      }
    },
  };
}

function wake({ arrivals }: Pick<Feed<never>, 'arrivals'>): void {
  const woken = [...arrivals];
  arrivals.clear();
  for (const resolve of woken) resolve();
}
