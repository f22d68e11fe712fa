import type { AttemptInput, AttemptOutcome } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { newExecution } from '../../../machines/policies/retry.ts';
import { addCall, NO_USAGE } from '../../../machines/policies/usage.ts';
import { done, fails, type Outcome } from '../exploration/occurrences.ts';

const A_CALL = { inputTokens: 10, outputTokens: 5, estimated: false };

/** How an attempt can fail: each kind of failure that a chart tells from the others. */
const FAILURES: Readonly<Record<string, Failure>> = {
  'nothing that fits': failureOf('schema', 'schema_mismatch', 'The reply does not fit.'),
  'no hope': failureOf('refinement', 'refused', 'The model refused.', { retryable: false }),
  'no connection': failureOf('transport', 'connection_lost', 'The connection broke.'),
};

/** What an attempt may come to that could give these values: each of them, each kind of failure, and an error. One call is charged. */
export function attemptOutcomes(input: AttemptInput, values: Readonly<Record<string, unknown>>): readonly Outcome[] {
  const execution = { ...newExecution(input), usage: addCall(NO_USAGE, A_CALL, null) };
  const ended = (outcome: AttemptOutcome, name: string) => done(outcome, name);
  return [
    ...Object.entries(values).map(([name, value]) => ended({ ok: true, value, execution }, name)),
    ...Object.entries(FAILURES).map(([name, failure]) => ended({ ok: false, failure, execution }, name)),
    fails(),
  ];
}
