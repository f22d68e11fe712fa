import type { Clock } from './clock.ts';

/** The count of characters is told again when it has grown by a quarter since, from here on. */
const MIN_TOLD_CHARS = 800;

interface Progress {
  readonly atMs: number;
  readonly chars: number;
}

interface Heartbeat {
  /** Something came, with so many characters of the reply. */
  beat(chars: number): void;
  readonly chars: number;
}

/**
 * Tells the attempt machine that a call is alive: at the first part, then once in an eighth of `chunkMs` while parts come, and now and
 * then as the text grows; never once a part, whatever the cost of an event.
 */
export function createHeartbeat(
  chunkMs: number,
  clock: Clock,
  tell: (type: 'reply.started' | 'reply.progressed', progress: Progress) => void,
): Heartbeat {
  let seenAtMs: number | null = null;
  let toldChars = MIN_TOLD_CHARS;
  let chars = 0;
  return {
    get chars() {
      return chars;
    },
    beat(more) {
      const atMs = clock.now();
      chars += more;
      if (seenAtMs !== null && atMs - seenAtMs < chunkMs / 8 && chars < toldChars * 1.25) return;
      tell(seenAtMs === null ? 'reply.started' : 'reply.progressed', { atMs, chars });
      seenAtMs = atMs;
      toldChars = Math.max(MIN_TOLD_CHARS, chars);
    },
  };
}
