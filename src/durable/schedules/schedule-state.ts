import type { StoredSpec } from './schedule-spec.ts';

/** What a schedule knows. Times are in milliseconds since the epoch. */
export interface ScheduleState {
  readonly id: string;
  readonly spec: StoredSpec;
  /** Counts the changes of the spec. */
  readonly revision: number;
  /** The revision to which `nextAtMs` belongs. */
  readonly plannedRevision: number;
  /** Null if no time follows, or before the first one is known. */
  readonly nextAtMs: number | null;
  readonly isPaused: boolean;
  /** The actor that it started last, apart from a backfill. */
  readonly last: StartedActor | null;
  /** Times whose actors are still to be started. */
  readonly backfill: readonly number[];
  /** How often in a row the next time could not be computed, or its actor not be started. */
  readonly failures: number;
  readonly error: string | null;
}

export interface StartedActor {
  readonly id: string;
  readonly machine: string;
  readonly atMs: number;
}

export type ScheduleEvent =
  | { readonly type: 'schedule.changed'; readonly spec: StoredSpec }
  | { readonly type: 'schedule.paused' | 'schedule.resumed' }
  | { readonly type: 'backfill.requested'; readonly times: readonly number[] };

/** The next time of a schedule. */
export interface Planned {
  readonly revision: number;
  readonly nextAtMs: number | null;
}

/** What a schedule did at a time. */
export interface Fired extends Planned {
  readonly actor: StartedActor;
  /** The actor that had not ended, so that none was started; null if one was. */
  readonly skippedFor: string | null;
  /** The first of the times that passed without a process; null if none did. */
  readonly missedFrom: string | null;
}

const MIN_RETRY_MS = 10_000;
const MAX_RETRY_MS = 3_600_000;

export const newSchedule = ({ id, spec }: Pick<ScheduleState, 'id' | 'spec'>): ScheduleState => ({
  id,
  spec,
  revision: 1,
  plannedRevision: 0,
  nextAtMs: null,
  isPaused: false,
  last: null,
  backfill: [],
  failures: 0,
  error: null,
});

export const withSpec = ({ revision }: ScheduleState, spec: StoredSpec): Partial<ScheduleState> => ({
  spec,
  revision: revision + 1,
  failures: 0,
  error: null,
});

/** The next time is computed again when the schedule is resumed: times that pass until then are left out. */
export const withPause = (isPaused: boolean): Partial<ScheduleState> => ({ isPaused, plannedRevision: 0 });

export const withPlan = ({ revision, nextAtMs }: Planned): Partial<ScheduleState> => ({
  plannedRevision: revision,
  nextAtMs,
  failures: 0,
  error: null,
});

export const withFailure = ({ failures }: ScheduleState, error: unknown): Partial<ScheduleState> => ({
  failures: failures + 1,
  error: error instanceof Error ? error.message : String(error),
});

export const withTimes = ({ backfill }: ScheduleState, times: readonly number[]): Partial<ScheduleState> => ({
  backfill: [...new Set([...backfill, ...times])],
});

export const withoutTimes = ({ backfill }: ScheduleState, times: readonly number[]): Partial<ScheduleState> => ({
  backfill: backfill.filter((at) => !times.includes(at)),
});

/** Doubles with each failure. */
export const retryDelayMs = ({ failures }: ScheduleState): number =>
  Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** (failures - 1));

export const delayUntilNextMs = ({ nextAtMs }: ScheduleState, nowMs: number): number =>
  Math.max(0, (nextAtMs ?? nowMs) - nowMs);
