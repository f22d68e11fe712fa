import type { Reply } from '../contracts/attempt.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { NO_FAILURE } from '../policies/failures.ts';
import { fallbackDue, isHopeless, retryAllowed } from '../policies/retry.ts';
import { type AttemptState, costLimitReached, elapsed, waitMs } from './state.ts';

interface Args {
  readonly context: AttemptState;
}

/** The policies of the attempt machine's guards, by name. */
export const attemptGuards = {
  replyIsBroken: ({ event }: { event: unknown }): GuardResult => {
    const failure = (event as { reply?: Reply }).reply?.failure ?? null;
    return { holds: failure !== null, inputs: { code: failure?.code ?? null } };
  },
  costLimitReached: ({ context }: Args): GuardResult => costLimitReached(context),
  callIsUnderWay: ({ context }: Args): GuardResult => ({
    holds: context.failure === null,
    inputs: { attempts: context.execution.attempts.length },
  }),
  failureIsHopeless: ({ context }: Args): GuardResult => isHopeless(context.failure ?? NO_FAILURE),
  /** The user's own retry rule may decline a retry that the budgets allow. */
  retryIsAllowed: ({ context }: Args): GuardResult => {
    const { execution, failure, policy, next } = context;
    const { holds, inputs } = retryAllowed(execution, failure ?? NO_FAILURE, policy, elapsed(context), context);
    return { holds: holds && next !== null, inputs: { ...inputs, declined: holds && next === null } };
  },
  fallbackIsDue: ({ context }: Args): GuardResult => {
    const { execution, failure, policy } = context;
    return fallbackDue(execution, failure ?? NO_FAILURE, policy, elapsed(context), context);
  },
  policyGivesValue: ({ context: { final } }: Args): GuardResult => ({
    holds: final !== null,
    inputs: { given: final !== null },
  }),
  waitIsOver: ({ context }: Args): GuardResult => ({
    holds: waitMs(context) <= 0,
    inputs: { waitMs: waitMs(context) },
  }),
};
