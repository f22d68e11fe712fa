import { attemptMachine } from '../../machines/attempt/attempt.machine.ts';
import { retryActions } from '../../machines/attempt/setup.ts';
import { verdictsWith } from '../../machines/attempt/verdicts.ts';
import { guardsOf } from '../../machines/guards.ts';
import type { RetryHooks } from '../../machines/policies/retry-hooks.ts';
import { createReadReply, type ReadReplyParts } from './read-reply.ts';
import { createValidateReply } from './validate-reply.ts';

/** The attempt machine joined to models and to what is asked of them: the same one stands alone and in the chain. */
export function joinAttempt(parts: ReadReplyParts): typeof attemptMachine {
  return attemptMachine.provide({
    actors: { readReply: createReadReply(parts), validateReply: createValidateReply(parts.askFor) },
  });
}

/** The same, with rules of the user's own [A3]. */
export function withHooks(machine: typeof attemptMachine, hooks: RetryHooks): typeof attemptMachine {
  return machine.provide({ guards: guardsOf(verdictsWith(hooks)), actions: retryActions(hooks) });
}
