import { startScripted } from './run-chain.ts';
import type { storeThat } from './sessions.ts';

/** A run of a session on a scripted model and a simulated clock. */
export const inSession = (
  sessions: ReturnType<typeof storeThat>,
  plan: Parameters<typeof startScripted>[0] = {},
  options: Parameters<typeof startScripted>[1] = {},
) => startScripted(plan, { sessions, ...options }, { sessionId: 'u42' });

/** How the notes of an answer begin that was given without all of its session. */
export const NOTE = 'Part of the session was not recalled:';
