import type { AttemptExecution, AttemptRecord } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { lacksJson } from '../../../machines/policies/model-status.ts';

/**
 * All attempts failed. The error carries each of them: the model's text, what was wrong with it path by path, its usage and duration.
 * `failure` is the last failure, with the `stage` at which it happened. If a rule of the retry policy threw (`policy_failed`), its
 * error is the `cause`.
 */
export class AttemptsExhausted extends PostChainError {
  override readonly name = 'AttemptsExhausted';
  readonly failure: Failure;
  readonly execution: AttemptExecution;

  constructor(failure: Failure, execution: AttemptExecution, options?: { cause?: unknown }) {
    super('attempts_exhausted', messageOf(failure, execution), options);
    this.failure = failure;
    this.execution = execution;
  }

  get attempts(): readonly AttemptRecord[] {
    return this.execution.attempts;
  }

  /** The usage of all attempts together. */
  get usage(): Usage {
    return this.execution.usage;
  }
}

function messageOf(failure: Failure, { task, attempts }: AttemptExecution): string {
  const { stage, message, issues } = failure;
  const count = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`;
  const [first] = issues;
  const where = first === undefined ? '' : ` First: ${first.path || '(root)'}: ${sentence(first.message)}`;
  const remedy = lacksJson(failure)
    ? ` Try another replyForm ('text', 'tool-call' or 'json-object'), or another model.`
    : '';
  const detail = `${sentence(message)}${where}${remedy} Every attempt is in error.attempts.`.replaceAll(/\s+/gu, ' ');
  return `No value for "${task}" after ${count}; the last failed in ${stage}: ${detail}`;
}

function sentence(text: string): string {
  return /[.!?]$/u.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
