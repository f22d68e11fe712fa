import type { Reply } from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { NO_FAILURE } from '../policies/failures.ts';
import { fallbackDue, hopeless, retryAllowed } from '../policies/retry.ts';
import { type AttemptContext, elapsed, waitMs } from './context.ts';

interface Args {
  readonly context: AttemptContext;
}

/** The guards' policies by name: the chart asks whether a verdict holds, the journal also shows what it saw. */
export const attemptGuards = {
  replyIsBroken: ({ event }: { event: unknown }): GuardResult => {
    const failure = (event as { reply?: Reply }).reply?.failure ?? null;
    return { holds: failure !== null, inputs: { code: failure?.code ?? null } };
  },
  callIsUnderWay: ({ context }: Args): GuardResult => ({
    holds: context.failure === null,
    inputs: { attempts: context.execution.attempts.length },
  }),
  failureIsHopeless: ({ context }: Args): GuardResult => hopeless(context.failure ?? NO_FAILURE),
  /** Where the budgets allow it, a rule of the user's own may have declined. */
  retryIsAllowed: ({ context }: Args): GuardResult => {
    const { execution, failure, policy, next } = context;
    const { holds, inputs } = retryAllowed(execution, failure ?? NO_FAILURE, policy, elapsed(context));
    return { holds: holds && next !== null, inputs: { ...inputs, declined: holds && next === null } };
  },
  fallbackIsDue: ({ context }: Args): GuardResult => {
    const { execution, failure, policy } = context;
    return fallbackDue(execution, failure ?? NO_FAILURE, policy, elapsed(context));
  },
  waitIsOver: ({ context }: Args): GuardResult => ({
    holds: waitMs(context) <= 0,
    inputs: { waitMs: waitMs(context) },
  }),
};
