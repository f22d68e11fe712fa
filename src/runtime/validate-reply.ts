import { fromPromise } from 'xstate';
import type { ValidateReplyInput, Validation } from '../../machines/attempt/ports.ts';
import type { Failure } from '../../machines/contracts/failure.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import { failureOf, unexpectedFailure } from '../../machines/policies/failures.ts';
import type { Prompt } from '../prompts/prompt.ts';

/** Holds a reply against its prompt's schema: the `validateReply` port [A10]. A refinement that fails is told apart. */
export function createValidateReply(prompts: Readonly<Record<Task, Prompt>>) {
  return fromPromise<Validation, ValidateReplyInput>(async ({ input: { task, value } }) => {
    const checked = await check(prompts[task], value);
    if (checked instanceof Error) return { ok: false, failure: transformationFailure(checked) };
    if (checked.success) return { ok: true, value: checked.data };
    const issues = checked.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
    const refined = checked.error.issues.every(({ code }) => code === 'custom');
    const stage = refined ? 'refinement' : 'schema';
    const count = issues.length === 1 ? 'one place' : `${issues.length} places`;
    const message = `The reply does not fit the schema of "${task}" in ${count}.`;
    return { ok: false, failure: failureOf(stage, 'invalid_reply', message, { issues }) };
  });
}

/** The schema's verdict, or the error of a transformation in it that threw. */
async function check({ output }: Prompt, value: unknown) {
  try {
    return await output.safeParseAsync(value);
  } catch (error) {
    return error instanceof Error ? error : new Error(unexpectedFailure(error).message);
  }
}

function transformationFailure(error: Error): Failure {
  const message = `The reply fits its schema, but cannot be transformed: ${unexpectedFailure(error).message}`;
  return failureOf('transformation', 'transformation_failed', message);
}
