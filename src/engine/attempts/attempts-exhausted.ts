import type { AttemptExecution, AttemptRecord } from '../../../machines/contracts/attempt.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';

/**
 * No value came of all attempts. It carries every one of them: what the model said, what was wrong with it path by path, what it
 * cost and how long it took; `failure` is the last, and its `stage` says where it failed [A10]. Where a rule of the retry policy
 * threw (`policy_broke`), that is the `cause`.
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

  /** Of all attempts together. */
  get usage(): Usage {
    return this.execution.usage;
  }
}

function messageOf({ stage, message, issues }: Failure, { task, attempts }: AttemptExecution): string {
  const calls = attempts.length === 1 ? 'one attempt' : `${attempts.length} attempts`;
  const [first] = issues;
  const where = first === undefined ? '' : ` First: ${first.path || '(root)'}: ${sentence(first.message)}`;
  const said = `${sentence(message)}${where} Every attempt is in error.attempts.`.replaceAll(/\s+/gu, ' ');
  return `No value for "${task}" after ${calls}; the last failed in ${stage}: ${said}`;
}

function sentence(text: string): string {
  return /[.!?]$/u.test(text.trim()) ? text.trim() : `${text.trim()}.`;
}
