import * as z from 'zod/mini';
import {
  type SessionStore,
  type SessionTurn,
  sessionTurnSchema,
  TURNS_WITH_KEPT,
} from '../../../machines/contracts/session.ts';
import { parseOption } from '../../internal/options.ts';

export interface MemorySessionsOptions {
  /** The number of turns kept per session, newest first; 100 by default. */
  readonly maxTurns?: number;
  /** The number of sessions kept, most recently used first; 1,000 by default. */
  readonly maxSessions?: number;
}

const optionsSchema = z.strictObject({
  maxTurns: z._default(z.int().check(z.gte(1)), 100),
  maxSessions: z._default(z.int().check(z.gte(1)), 1_000),
});

/**
 * Returns a bounded session store in the memory of this process. It keeps the newest turns of the sessions that were recalled or
 * appended to last. Throws `invalid_option`.
 */
export function memorySessions(options: MemorySessionsOptions = {}): SessionStore {
  const { maxTurns, maxSessions } = parseOption(optionsSchema, options, 'memorySessions');
  /** Turns by run id, in order, for each session; the most recently used session is last. */
  const sessions = new Map<string, Map<string, string>>();

  const touch = (sessionId: string, turns: Map<string, string>): void => {
    sessions.delete(sessionId);
    sessions.set(sessionId, turns);
  };
  return {
    recall(sessionId, { turns }) {
      const kept = sessions.get(sessionId);
      if (kept === undefined) return [];
      touch(sessionId, kept);
      const newest = turns > 0 ? [...kept.values()].slice(-turns) : [];
      return newest.flatMap((text) => parseTurn(text) ?? []);
    },
    append(sessionId, turn) {
      const text = serializeTurn(turn);
      const kept = sessions.get(sessionId) ?? new Map<string, string>();
      kept.set(turn.runId, text);
      const [replaced] = [...kept.keys()].slice(-TURNS_WITH_KEPT - 1, -TURNS_WITH_KEPT);
      if (replaced !== undefined) kept.set(replaced, withoutKept(kept.get(replaced) ?? ''));
      touch(sessionId, kept);
      dropOldest(kept, maxTurns);
      dropOldest(sessions, maxSessions);
    },
  };
}

function dropOldest(map: Map<string, unknown>, maxSize: number): void {
  for (const key of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(key);
  }
}

/** Returns a turn as JSON text, so that later changes to the object do not reach the store. Throws `invalid_option`. */
export function serializeTurn(turn: SessionTurn): string {
  return JSON.stringify(parseOption(sessionTurnSchema, turn, 'turn'));
}

/** Returns the text of a turn without what the session kept after it: newer turns have that. */
function withoutKept(text: string): string {
  const { kept: _, ...turn } = JSON.parse(text) as SessionTurn;
  return JSON.stringify(turn);
}

/** Returns the turn, or null if the text is damaged or was written by another program. */
export function parseTurn(text: unknown): SessionTurn | null {
  if (typeof text !== 'string') return null;
  try {
    const read = sessionTurnSchema.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
