import { z } from 'zod';

/**
 * One request of a session and what came of it. `runs` are the capability runs it led to, in order [R4]; `answer` is the final
 * answer's text; `atMs` is when the run began, in milliseconds since the epoch.
 */
export const sessionTurnSchema = z.object({
  runId: z.string(),
  request: z.string(),
  runs: z.array(z.object({ capability: z.string(), success: z.boolean(), summary: z.string() })).readonly(),
  answer: z.string(),
  status: z.enum(['completed', 'degraded', 'cancelled']),
  atMs: z.number(),
});
export type SessionTurn = Readonly<z.infer<typeof sessionTurnSchema>>;

/** What a run is given of its session: the turns, the oldest first, and why they are not all that there should be, or null. */
export interface RecalledSession {
  readonly turns: readonly SessionTurn[];
  readonly problem: string | null;
}

/**
 * The session port: keeps the turns of sessions by their id. A turn is one request, however many capabilities it ran, so no single
 * request can push the others out. Both functions may answer at once or later, and may throw or reject: a run then goes on without
 * what was remembered, and says so.
 */
export interface SessionStore {
  /**
   * The newest `turns` turns of the session, the oldest first; none for a session that nobody knows. What does not keep the store from
   * answering, a damaged turn that it leaves out, say, is told to `onProblem`.
   */
  recall(
    sessionId: string,
    options: {
      readonly turns: number;
      readonly signal: AbortSignal;
      readonly onProblem?: ((problem: string) => void) | undefined;
    },
  ): readonly SessionTurn[] | Promise<readonly SessionTurn[]>;
  /** Appends a turn. One with the `runId` of a turn that is there takes its place. */
  append(sessionId: string, turn: SessionTurn, options: { readonly signal: AbortSignal }): void | Promise<void>;
}
