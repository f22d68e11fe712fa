import { z } from 'zod';
import { type SessionStore, type SessionTurn, sessionTurnSchema } from '../../../machines/contracts/session.ts';
import { invalidOption } from '../../internal/options.ts';

export interface MemorySessionsOptions {
  /** Turns kept of each session, the newest; 100 by default. */
  readonly maxTurns?: number;
  /** Sessions kept, those used last; 1,000 by default. */
  readonly maxSessions?: number;
}

const optionsSchema = z.strictObject({
  maxTurns: z.int().min(1).default(100),
  maxSessions: z.int().min(1).default(1_000),
});

/**
 * Sessions in the memory of this process. It is bounded: of each session the newest turns stay, and of the sessions those that were
 * used last, by a recall or an append. Throws `invalid_option` for bounds that make no sense.
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('memorySessions', options, read.error, optionsSchema);
  const { maxTurns, maxSessions } = read.data;
  /** The turns of each session by the ids of their runs, in order; the session used last is the last one. */
  const sessions = new Map<string, Map<string, string>>();

  const use = (sessionId: string, turns: Map<string, string>): void => {
    sessions.delete(sessionId);
    sessions.set(sessionId, turns);
  };
  return {
    recall(sessionId, { turns }) {
      const kept = sessions.get(sessionId);
      if (kept === undefined) return [];
      use(sessionId, kept);
      const newest = turns > 0 ? [...kept.values()].slice(-turns) : [];
      return newest.flatMap((text) => turnOfText(text) ?? []);
    },
    append(sessionId, turn) {
      const text = textOfTurn(turn);
      const kept = sessions.get(sessionId) ?? new Map<string, string>();
      kept.set(turn.runId, text);
      use(sessionId, kept);
      dropOldest(kept, maxTurns);
      dropOldest(sessions, maxSessions);
    },
  };
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}

/**
 * A turn as the text that a store keeps: JSON, so that nobody who still holds the turn can change what is kept, and that any character
 * of it is safe in a file. Throws `invalid_option` for what is no turn.
 */
export function textOfTurn(turn: SessionTurn): string {
  const read = sessionTurnSchema.safeParse(turn);
  if (!read.success) throw invalidOption('The turn', turn, read.error);
  return JSON.stringify(read.data);
}

/** Null for what is no turn: a damaged one, say, or one that another program wrote. */
export function turnOfText(text: unknown): SessionTurn | null {
  if (typeof text !== 'string') return null;
  try {
    const read = sessionTurnSchema.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
