import type { Reply } from '../contracts/attempt.ts';
import type { Verdict } from '../contracts/verdict.ts';
import { NO_FAILURE } from '../policies/failures.ts';
import { fallbackDue, hopeless, retryAllowed } from '../policies/retry.ts';
import { NO_HOOKS, type RetryHooks } from '../policies/retry-hooks.ts';
import type { AttemptContext } from './context.ts';

interface Args {
  readonly context: AttemptContext;
}

/** The guards' policies by name: the chart asks whether a verdict holds, the journal also shows what it saw. */
export const attemptVerdicts = verdictsWith(NO_HOOKS);

/** The same with rules of the user's own [A3]. */
export function verdictsWith({ shouldRetry }: RetryHooks) {
  return {
    replyIsBroken: ({ event }: { event: unknown }): Verdict => {
      const failure = (event as { reply?: Reply }).reply?.failure ?? null;
      return { holds: failure !== null, inputs: { code: failure?.code ?? null } };
    },
    callIsUnderWay: ({ context }: Args): Verdict => ({
      holds: context.failure === null,
      inputs: { attempts: context.execution.attempts.length },
    }),
    failureIsHopeless: ({ context }: Args): Verdict => hopeless(context.failure ?? NO_FAILURE),
    retryIsAllowed: ({ context: { execution, failure, policy } }: Args): Verdict => {
      const allowed = retryAllowed(execution, failure ?? NO_FAILURE, policy);
      if (!allowed.holds || shouldRetry === undefined) return allowed;
      const wanted = shouldRetry(execution, failure ?? NO_FAILURE) === true;
      return { holds: wanted, inputs: { ...allowed.inputs, wanted } };
    },
    fallbackIsDue: ({ context: { execution, failure, policy } }: Args): Verdict =>
      fallbackDue(execution, failure ?? NO_FAILURE, policy),
    waitIsOver: ({ context: { retryInMs } }: Args): Verdict => ({ holds: retryInMs <= 0, inputs: { retryInMs } }),
  };
}
