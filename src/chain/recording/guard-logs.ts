import type { GuardResult } from '../../../machines/contracts/decision.ts';
import { guardName } from '../../durable/charts/guard-label.ts';

/** The latest result of each guard of a machine, by the guard's name, since the machine's last transition. */
export type GuardLog = Map<string, GuardResult>;

/** One log per machine of an actor system, because a machine may evaluate its guards while another's transition is being recorded. */
export interface GuardLogs {
  of(machineId: string): GuardLog;
}

export function createGuardLogs(): GuardLogs {
  const logs = new Map<string, GuardLog>();
  return {
    of(machineId) {
      const log = logs.get(machineId) ?? new Map();
      logs.set(machineId, log);
      return log;
    },
  };
}

type ResultOf = (args: never, params: never) => GuardResult;
// biome-ignore lint/suspicious/noExplicitAny: it stands in for a guard of any context, event and parameters
type Guard = (args: any, params: any) => boolean;

/**
 * Returns a machine's guards such that each records its result and the values it compared. XState's inspection does not report guards
 * that returned false. `logNow` returns the log of the run that is executing.
 */
export function recordGuards<Guards extends Record<string, ResultOf>>(guards: Guards, logNow: () => GuardLog) {
  return Object.fromEntries(
    Object.entries(guards).map(([name, evaluate]): [string, Guard] => [
      name,
      (args, params) => {
        const result = evaluate(args as never, params as never);
        const log = logNow();
        log.set(guardName(name, params), result);
        // A chart names a guard whose parameters come from the event without them.
        log.set(name, result);
        return result.holds;
      },
    ]),
  ) as { [K in keyof Guards]: Guard };
}
