import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { type RunUpdate, RunUpdates } from './updates.ts';

/** An update with its id: the number of its entry and its number within the entry, such as `12.0`. Ids increase. */
interface NumberedUpdate {
  readonly id: string;
  readonly update: RunUpdate;
}

export type Updates = AsyncGenerator<NumberedUpdate, void>;

type Follow = (runId: string, options: { readonly signal: AbortSignal }) => AsyncIterable<JournalEntry>;

/** The updates of runs, for any number of readers. */
export interface Feeds {
  /**
   * Yields the updates of a run from the beginning, and then as they are stored, until the answer. All readers of a run share one read of
   * its journal. Ends early when the signal aborts.
   */
  updates(runId: string, signal: AbortSignal): Updates;
}

interface Feed {
  readonly updates: NumberedUpdate[];
  readonly arrivals: Set<() => void>;
  readonly ending: AbortController;
  readers: number;
  isOver: boolean;
  failure: unknown;
}

export function createFeeds(follow: Follow): Feeds {
  const feeds = new Map<string, Feed>();

  function open(runId: string): Feed {
    const feed: Feed = {
      updates: [],
      arrivals: new Set(),
      ending: new AbortController(),
      readers: 0,
      isOver: false,
      failure: null,
    };
    feeds.set(runId, feed);
    void read(runId, feed);
    return feed;
  }

  async function read(runId: string, feed: Feed): Promise<void> {
    const updates = new RunUpdates();
    try {
      for await (const entry of follow(runId, { signal: feed.ending.signal })) {
        let number = 0;
        for (const update of updates.take(entry)) {
          feed.updates.push({ id: `${entry.seq}.${number}`, update });
          number += 1;
        }
        if (number > 0) wake(feed);
      }
    } catch (error) {
      feed.failure = error;
    }
    feed.isOver = true;
    // After an error, the next reader reads the journal again.
    if (feed.failure !== null && feeds.get(runId) === feed) feeds.delete(runId);
    wake(feed);
  }

  return {
    async *updates(runId, signal) {
      const feed = feeds.get(runId) ?? open(runId);
      feed.readers += 1;
      const wakeAll = (): void => wake(feed);
      signal.addEventListener('abort', wakeAll);
      try {
        for (let next = 0; !signal.aborted; ) {
          const update = feed.updates[next];
          if (update !== undefined) {
            next += 1;
            yield update;
          } else if (feed.failure !== null) throw feed.failure;
          else if (feed.isOver) return;
          else await new Promise<void>((resolve) => feed.arrivals.add(resolve));
        }
      } finally {
        signal.removeEventListener('abort', wakeAll);
        feed.readers -= 1;
        if (feed.readers === 0) {
          feed.ending.abort();
          if (feeds.get(runId) === feed) feeds.delete(runId);
        }
      }
    },
  };
}

function wake({ arrivals }: Feed): void {
  const woken = [...arrivals];
  arrivals.clear();
  for (const resolve of woken) resolve();
}

/** Returns whether an update id comes after another one. */
export function isAfter(id: string, other: string): boolean {
  const [seq = 0, number = 0] = id.split('.').map(Number);
  const [otherSeq = 0, otherNumber = 0] = other.split('.').map(Number);
  return seq > otherSeq || (seq === otherSeq && number > otherNumber);
}
