import type { GuardResult } from '../../../machines/contracts/decision.ts';

type VerdictOf = (args: never, params: never) => GuardResult;
// biome-ignore lint/suspicious/noExplicitAny: it stands in for a guard of any context, event and parameters
type Ask = (args: any, params: any) => boolean;

/** The inputs that guards saw, by guard, since they were last taken. */
export interface GuardLog {
  note(guard: string, verdict: GuardResult): void;
  take(guard: string): GuardResult | null;
  clear(): void;
  readonly isEmpty: boolean;
}

/** A log for each machine of a system, by its id: one may ask its guards while another's step is not yet written. */
export interface GuardLogs {
  of(machineId: string): GuardLog;
}

export function createGuardLogs(): GuardLogs {
  const logs = new Map<string, GuardLog>();
  return {
    of(machineId) {
      const log = logs.get(machineId) ?? createVerdictLog();
      logs.set(machineId, log);
      return log;
    },
  };
}

function createVerdictLog(): GuardLog {
  const seen = new Map<string, GuardResult>();
  return {
    note: (guard, verdict) => void seen.set(guard, verdict),
    take: (guard) => seen.get(guard) ?? null,
    clear: () => seen.clear(),
    get isEmpty() {
      return seen.size === 0;
    },
  };
}

/** A guard's name with its parameters, as the journal writes it: `nextPhaseIs(action)`. */
export function guardName(name: string, params: unknown): string {
  if (params === undefined || params === null || typeof params !== 'object') return name;
  const values = Object.values(params).filter((value) => typeof value === 'string');
  return values.length === 0 ? name : `${name}(${values.join(', ')})`;
}

/** A guard as a chart has it, in a word: its name, with what is known of its parameters; a function by the name that it was given. */
export function guardLabel(guard: unknown): string {
  if (typeof guard === 'string') return guard;
  // One that was written in its place has the name of that place.
  if (typeof guard === 'function') return guard.name === '' || guard.name === 'guard' ? 'inline' : guard.name;
  const { type, params } = guard as { type: string; params?: unknown };
  return guardName(type, typeof params === 'function' ? undefined : params);
}

/**
 * The guards of a machine, made to note what they saw: XState reports no guard that said no, so they are listened to where they
 * are asked. Each still answers what its policy says.
 */
export function recordGuards<Verdicts extends Record<string, VerdictOf>>(verdicts: Verdicts, log: GuardLog) {
  const guards: Record<string, Ask> = {};
  for (const [name, verdictOf] of Object.entries(verdicts)) {
    guards[name] = (args, params) => {
      const verdict = verdictOf(args as never, params as never);
      log.note(guardName(name, params), verdict);
      return verdict.holds;
    };
  }
  return guards as { [K in keyof Verdicts]: Ask };
}
