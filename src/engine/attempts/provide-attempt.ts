import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { recordFailureWith } from '../../../machines/attempt/setup.ts';
import { NO_HOOKS, type RetryHooks } from '../../../machines/policies/retry-hooks.ts';
import { type ActivityDispatcher, inlineDispatcher } from '../activities/activity.ts';
import { createReadReply, type ReadReplyParts } from './read-reply.ts';
import { createValidateReply } from './validate-reply.ts';

interface JoinedParts extends Omit<ReadReplyParts, 'dispatcher'> {
  readonly dispatcher?: ActivityDispatcher;
  readonly hooks?: RetryHooks;
  /** Guards that are listened to, for a journal. */
  readonly guards?: Parameters<typeof attemptMachine.provide>[0]['guards'];
}

/** The attempt machine joined to models and to what is asked of them: the same one stands alone and in the chain. */
export function provideAttempt({
  hooks = NO_HOOKS,
  guards = {},
  dispatcher = inlineDispatcher,
  ...parts
}: JoinedParts): typeof attemptMachine {
  return attemptMachine.provide({
    actors: {
      readReply: createReadReply({ ...parts, dispatcher }),
      validateReply: createValidateReply(parts.askFor, dispatcher),
    },
    actions: { recordFailure: recordFailureWith(hooks) },
    guards,
  });
}
