import type { ValidateReply, ValidateReplyInput } from '../../machines/attempt/ports.ts';
import type { Ask } from '../prompts/ask.ts';
import { fromSyncOrPromise } from './sync-or-promise.ts';

/** Holds a reply against the schema of what was asked for: the `validateReply` port [A10]. */
export function createValidateReply(askFor: (task: string) => Ask): ValidateReply {
  return fromSyncOrPromise(({ task, value }: ValidateReplyInput) => {
    const { shape } = askFor(task);
    return shape.validate(shape.unwrap(value));
  });
}
