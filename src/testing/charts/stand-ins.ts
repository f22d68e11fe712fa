import { SimulatedClock } from 'xstate';
import * as z from 'zod/mini';
import type { AttemptInput, AttemptOutcome, ModelsReport, UsageReport } from '../../../machines/contracts/attempt.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { newModels } from '../../../machines/contracts/model-status.ts';
import { failureOf, overBudget } from '../../../machines/policies/failures.ts';
import { newExecution } from '../../../machines/policies/retry.ts';
import { addCall, NO_USAGE } from '../../../machines/policies/usage.ts';
import { defineCapability } from '../../tools/capability.ts';
import { type ActorOutcome, done, fails, sends } from '../exploration/occurrences.ts';

export const CLOCK = new SimulatedClock();

/** The only capability. No exploration executes it. */
export const LOOKUP = defineCapability({
  name: 'lookup',
  description: 'Looks something up.',
  arguments: z.object({}),
  jsonSchema: { type: 'object', properties: {} },
  execute: () => 'found',
});

const USAGE = addCall(NO_USAGE, { inputTokens: 10, outputTokens: 5, estimated: false }, null);

/** The kinds of failure that the charts treat differently. */
const FAILURES: Readonly<Record<string, Failure>> = {
  'invalid reply': failureOf('schema', 'schema_mismatch', 'The reply does not match the schema.'),
  refused: failureOf('refinement', 'refused', 'The model refused.', { retryable: false }),
  'connection lost': failureOf('transport', 'connection_lost', 'The connection was lost.'),
};

const report: UsageReport = { type: 'usage.reported', finished: USAGE, call: null };

export const reportsUsage: ActorOutcome = sends(report, 'reports its usage');

const models: ModelsReport = { type: 'models.learned', models: newModels(0) };

export const reportsModels: ActorOutcome = sends(models, 'reports its models');

/** The cost of each call of a run with a cost limit. */
const CALL_COST = 1;

/**
 * Returns the outcomes of an attempt: each of these values, each kind of failure, and an error. Each charges one call, unless it could
 * exceed the cost limit.
 */
export function attemptOutcomes(
  input: AttemptInput,
  values: Readonly<Record<string, unknown>>,
): readonly ActorOutcome[] {
  const { maxCost } = input.policy;
  if (maxCost !== null && maxCost < CALL_COST)
    return [done({ ok: false, failure: overBudget(), execution: newExecution(input) }, 'over budget')];
  const usage = maxCost === null ? USAGE : { ...USAGE, cost: CALL_COST };
  const execution = { ...newExecution(input), usage };
  const { phases } = input;
  const ended = (outcome: AttemptOutcome, name: string) => done(outcome, name);
  return [
    ...Object.entries(values).map(([name, value]) =>
      ended({ ok: true, prose: false, value, execution, ...(phases && { phases }) }, name),
    ),
    ...Object.entries(FAILURES).map(([name, failure]) => ended({ ok: false, failure, execution }, name)),
    fails(),
  ];
}

export function proseOutcome(input: AttemptInput, value: unknown, name: string): ActorOutcome {
  const usage = input.policy.maxCost === null ? USAGE : { ...USAGE, cost: CALL_COST };
  const execution = { ...newExecution(input), usage };
  return done({ ok: true, prose: true, value, execution, ...(input.phases && { phases: input.phases }) }, name);
}
