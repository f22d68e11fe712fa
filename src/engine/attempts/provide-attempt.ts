import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import type { ValidateReply, ValidateReplyInput } from '../../../machines/attempt/ports.ts';
import { recordFailureWith } from '../../../machines/attempt/setup.ts';
import { NO_HOOKS, type RetryHooks } from '../../../machines/policies/retry-hooks.ts';
import { type ActivityDispatcher, inlineDispatcher } from '../activities/activity.ts';
import { syncOrPromiseActivity } from '../activities/promise-activity.ts';
import type { PromptSpec } from '../prompts/prompt-spec.ts';
import { createReadReply, type ReadReplyParts } from './read-reply.ts';

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

/** Holds a reply against the schema of what was asked for: the `validateReply` port [A10]. */
export function createValidateReply(
  askFor: (task: string) => PromptSpec,
  dispatcher: ActivityDispatcher,
): ValidateReply {
  const validate = ({ task, value }: ValidateReplyInput) => {
    const { shape } = askFor(task);
    return shape.validate(shape.unwrap(value));
  };
  return syncOrPromiseActivity('validateReply', validate, dispatcher);
}
