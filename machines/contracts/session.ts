import * as z from 'zod/mini';
import { messageSchema } from './message.ts';

/**
 * One request of a session and its answer. `runs` are the capability runs, in order; `atMs` is the start of the run, in
 * milliseconds since the epoch. `number` counts the turns of the session from 1. `kept` is what the session keeps of all
 * its turns until then, so only the newest turns need it: messages of this run have their own ids, those of earlier
 * turns ids like `earlier.3.request`. `removed` has the ids of earlier messages that the user removed or that the session could
 * not keep; `droppedMessages` is how many it could not keep in all its turns. A store may return turns without these fields.
 */
export const sessionTurnSchema = z.object({
  runId: z.string(),
  request: z.string(),
  runs: z.readonly(z.array(z.object({ capability: z.string(), success: z.boolean(), summary: z.string() }))),
  answer: z.string(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  atMs: z.number(),
  number: z.optional(z.int().check(z.gte(1))),
  kept: z.optional(z.readonly(z.array(z.readonly(messageSchema)))),
  removed: z.optional(z.readonly(z.array(z.string()))),
  droppedMessages: z.optional(z.int().check(z.gte(0))),
});
export type SessionTurn = Readonly<z.infer<typeof sessionTurnSchema>>;

/** How many of the newest turns keep `kept`: more than one, because runs of a session may overlap. */
export const TURNS_WITH_KEPT = 3;

/** The recalled turns, oldest first, and what the store could not recall, or null. */
export interface RecalledSession {
  readonly turns: readonly SessionTurn[];
  readonly problem: string | null;
}

/**
 * Stores the turns of sessions by id. A turn is one request with all its capability runs, so a request with many runs
 * does not displace earlier requests. Both methods may be synchronous or asynchronous, and may throw or reject: the run
 * then continues without the session and reports the problem.
 */
export interface SessionStore {
  /**
   * Returns the newest `turns` turns of the session, oldest first; none for an unknown session. Call `onProblem` for
   * problems that do not prevent an answer, for example a damaged turn that is left out.
   */
  recall(
    sessionId: string,
    options: {
      readonly turns: number;
      readonly signal: AbortSignal;
      readonly onProblem?: ((problem: string) => void) | undefined;
    },
  ): readonly SessionTurn[] | Promise<readonly SessionTurn[]>;
  /** Appends a turn, or replaces the turn with the same `runId`. */
  append(sessionId: string, turn: SessionTurn, options: { readonly signal: AbortSignal }): void | Promise<void>;
}
