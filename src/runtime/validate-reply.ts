import { z } from 'zod';
import type { ValidateReply, ValidateReplyInput, Validation } from '../../machines/attempt/ports.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import { replySchemas } from '../../machines/contracts/phases/reply.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { fromSyncOrPromise } from './sync-or-promise.ts';

/**
 * Holds a reply against its prompt's schema: the `validateReply` port [A10]. A refinement that fails is told apart. Most schemas
 * answer at once; one with an asynchronous rule is waited for.
 */
export function createValidateReply(prompts: Readonly<Record<Task, Prompt>>): ValidateReply {
  return fromSyncOrPromise(({ task, value }: ValidateReplyInput) => validate(prompts[task], value));
}

function validate(prompt: Prompt, value: unknown): Validation | Promise<Validation> {
  try {
    return verdictOn(prompt, prompt.output.safeParse(value));
  } catch (error) {
    return error instanceof z.core.$ZodAsyncError ? validateLater(prompt, value) : cannotTransform(error);
  }
}

async function validateLater(prompt: Prompt, value: unknown): Promise<Validation> {
  try {
    return verdictOn(prompt, await prompt.output.safeParseAsync(value));
  } catch (error) {
    return cannotTransform(error);
  }
}

/** A prompt of the user's may have a schema of its own: its value must fit the chain's too, which reads it. */
function verdictOn(prompt: Prompt, checked: z.ZodSafeParseResult<unknown>): Validation {
  const { name, output } = prompt;
  const own = replySchemas[name];
  if (checked.success) {
    const read = output === own ? checked : own.safeParse(checked.data);
    if (read.success) return { ok: true, value: checked.data };
    return misfit(name, read.error);
  }
  return misfit(name, checked.error);
}

function misfit(name: Task, { issues: found }: z.ZodError): Validation {
  const issues = found.map(({ path, message }) => ({ path: path.join('.'), message }));
  const refined = found.every(({ code }) => code === 'custom');
  const stage = refined ? 'refinement' : 'schema';
  const count = issues.length === 1 ? 'one place' : `${issues.length} places`;
  const message = `The reply does not fit the schema of "${name}" in ${count}.`;
  return { ok: false, failure: failureOf(stage, 'invalid_reply', message, { issues }) };
}

/** A transformation in the schema threw. */
function cannotTransform(error: unknown): Validation {
  const message = `The reply fits its schema, but cannot be transformed: ${unexpectedFailure(error).message}`;
  return { ok: false, failure: failureOf('transformation', 'transformation_failed', message) };
}
