import { problemOf } from './problem.ts';
import { FRAME_CHARS, type SourceSink, type StopFollowing } from './source.ts';

/** A list of entries that grows, for many followers: each has its own place in it. */
export interface LineLog {
  /** There are more entries than before. Followers hear of it once a turn of the loop, and at least every few milliseconds of a long one. */
  grew(): void;
  /** No more will come. */
  end(problem?: string | null): void;
  follow(from: number, sink: SourceSink): StopFollowing;
}

interface Follower {
  isStopped: boolean;
  wake: () => void;
}

/** A frame of the page, about. */
const LONG_TURN_MS = 15;

/** An entry is made a line when somebody first wants it, and then for all who follow. */
export function lineLog(entries: readonly unknown[]): LineLog {
  const followers = new Set<Follower>();
  let lines: string[] = [];
  let ended: { readonly problem: string | null } | null = null;
  let isWaking = false;
  let wokenAt = 0;

  function wake(): void {
    isWaking = false;
    wokenAt = performance.now();
    for (const follower of followers) follower.wake();
  }

  /** A run whose model answers at once may be over before the turn is. */
  function wakeSoon(): void {
    if (followers.size === 0) return;
    if (performance.now() - wokenAt > LONG_TURN_MS) wake();
    else if (!isWaking) {
      isWaking = true;
      setImmediate(wake);
    }
  }

  function lineAt(at: number): string {
    lines[at] ??= JSON.stringify(entries[at]);
    return lines[at];
  }

  function frameAt(from: number): readonly string[] {
    const frame: string[] = [];
    for (let chars = 0; chars < FRAME_CHARS && from + frame.length < entries.length; ) {
      const line = lineAt(from + frame.length);
      chars += line.length;
      frame.push(line);
    }
    return frame;
  }

  async function feed(from: number, sink: SourceSink, follower: Follower): Promise<void> {
    // What follows from here has been told what it opened.
    await Promise.resolve();
    for (let at = from; !follower.isStopped; ) {
      if (at < entries.length) {
        const frame = frameAt(at);
        at += frame.length;
        await sink.lines(frame);
      } else if (ended !== null) {
        return sink.end(ended.problem);
      } else {
        await new Promise<void>((resolve) => {
          follower.wake = resolve;
        });
      }
    }
  }

  return {
    grew: wakeSoon,
    end(problem = null) {
      ended ??= { problem };
      wakeSoon();
    },
    follow(from, sink) {
      const follower: Follower = { isStopped: false, wake: () => {} };
      followers.add(follower);
      feed(from, sink, follower)
        .catch((error: unknown) => {
          if (!follower.isStopped) sink.end(problemOf(error));
        })
        .finally(() => {
          followers.delete(follower);
          if (followers.size === 0) lines = [];
        });
      return () => {
        follower.isStopped = true;
        follower.wake();
      };
    },
  };
}
