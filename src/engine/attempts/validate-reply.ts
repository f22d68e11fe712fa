import type { ValidateReply, ValidateReplyInput } from '../../../machines/attempt/ports.ts';
import type { ActivityDispatcher } from '../activities/activity.ts';
import { syncOrPromiseActivity } from '../activities/promise-activity.ts';
import type { PromptSpec } from '../prompts/prompt-spec.ts';

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
