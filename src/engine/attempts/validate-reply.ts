import type { ValidateReply, ValidateReplyInput } from '../../../machines/attempt/ports.ts';
import type { Conductor } from '../activities/call.ts';
import { questionOrValue } from '../activities/question.ts';
import type { Ask } from '../prompts/ask.ts';

/** Holds a reply against the schema of what was asked for: the `validateReply` port [A10]. */
export function createValidateReply(askFor: (task: string) => Ask, conductor: Conductor): ValidateReply {
  const validate = ({ task, value }: ValidateReplyInput) => {
    const { shape } = askFor(task);
    return shape.validate(shape.unwrap(value));
  };
  return questionOrValue('validateReply', validate, conductor);
}
