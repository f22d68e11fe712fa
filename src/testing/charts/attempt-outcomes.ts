import type { AttemptInput, AttemptOutcome, UsageReport } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { newExecution } from '../../../machines/policies/retry.ts';
import { addCall, NO_USAGE } from '../../../machines/policies/usage.ts';
import { done, fails, type Outcome, sends } from '../exploration/occurrences.ts';

const USAGE = addCall(NO_USAGE, { inputTokens: 10, outputTokens: 5, estimated: false }, null);

/** The kinds of failure that the charts treat differently. */
const FAILURES: Readonly<Record<string, Failure>> = {
  'nothing that fits': failureOf('schema', 'schema_mismatch', 'The reply does not fit.'),
  'no hope': failureOf('refinement', 'refused', 'The model refused.', { retryable: false }),
  'no connection': failureOf('transport', 'connection_lost', 'The connection broke.'),
};

const report: UsageReport = { type: 'usage.reported', usage: USAGE };

/** An attempt reports its usage to its parent and continues. */
export const reportsUsage: Outcome = sends(report, 'reports its usage');

/** The ways an attempt can end: with each of these values, with each kind of failure, and with an error. One call is charged. */
export function attemptOutcomes(input: AttemptInput, values: Readonly<Record<string, unknown>>): readonly Outcome[] {
  const execution = { ...newExecution(input), usage: USAGE };
  const ended = (outcome: AttemptOutcome, name: string) => done(outcome, name);
  return [
    ...Object.entries(values).map(([name, value]) => ended({ ok: true, value, execution }, name)),
    ...Object.entries(FAILURES).map(([name, failure]) => ended({ ok: false, failure, execution }, name)),
    fails(),
  ];
}
