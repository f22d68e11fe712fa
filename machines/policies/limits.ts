import type { ChainState } from '../contracts/chain-state.ts';
import { type Limits, limitsSchema, thresholdsSchema } from '../contracts/limits.ts';
import type { Phase } from '../contracts/phase.ts';

type Bounded = Pick<ChainState, 'limits' | 'sessionId' | 'interruption'>;

/** Milliseconds to store the turn of a stopped run: whoever stopped it should not wait longer. */
const STOPPED_MS = 250;

/** Returns the deadline of a phase in milliseconds. */
export function phaseDeadlineMs({ phaseMs }: Pick<Limits, 'phaseMs'>, phase: Phase): number {
  return typeof phaseMs === 'number' ? phaseMs : phaseMs[phase];
}

interface Deadlines {
  readonly runMs: number;
  readonly synthesisMs: number;
  readonly sessionMs: number;
}

/**
 * Milliseconds until the phases must end, those reserved for the answer, and, with a session, those for storing the
 * turn; all within `totalMs`.
 */
export function deadlines({ limits, sessionId, interruption }: Bounded): Deadlines {
  const synthesisMs = Math.min(limits.synthesisMs, limits.totalMs / 4);
  const stopped = interruption?.kind === 'cancelled' || interruption?.kind === 'interrupted';
  const maxSessionMs = Math.min(limits.sessionMs, limits.totalMs / 8);
  const sessionMs = sessionId === null ? 0 : stopped ? Math.min(STOPPED_MS, maxSessionMs) : maxSessionMs;
  return { runMs: limits.totalMs - synthesisMs - sessionMs, synthesisMs, sessionMs };
}

interface Adjustment {
  readonly limits?: Readonly<Record<string, Limits[keyof Limits] | undefined>> | undefined;
  readonly thresholds?: Readonly<Record<string, number | undefined>> | undefined;
}

/**
 * Changes limits and thresholds for the rest of the run. One invalid limit leaves all limits unchanged, and one invalid
 * threshold all thresholds. Delays already running are unaffected.
 */
export function adjust(state: ChainState, { limits, thresholds }: Adjustment): Partial<ChainState> {
  const nextLimits = limitsSchema.safeParse({ ...state.limits, ...limits });
  const nextThresholds = thresholdsSchema.safeParse({ ...state.thresholds, ...thresholds });
  return {
    ...(nextLimits.success && { limits: nextLimits.data }),
    ...(nextThresholds.success && { thresholds: nextThresholds.data }),
  };
}
