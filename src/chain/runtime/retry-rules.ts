import * as z from 'zod/mini';
import {
  type AttemptExecution,
  type AttemptRecord,
  attemptRecordSchema,
  type NextCall,
  nextCallSchema,
} from '../../../machines/contracts/attempt.ts';
import type { ChainInput } from '../../../machines/contracts/chain-state.ts';
import { PROMPT_NAMES, type PromptName, TASKS, type Task } from '../../../machines/contracts/phase.ts';
import { type RetryHooks, requireBoolean, requireValue } from '../../../machines/policies/retry.ts';
import { recordOnce } from '../../durable/recorded-values.ts';
import { parseOption } from '../../internal/options.ts';
import {
  hooksOf,
  isInstance,
  numbersOf,
  type RetryPolicy,
  retryPolicySchema,
  withBoundRules,
} from '../../llm/attempts/retry-policy.ts';

/** The retry policy of a chain: one for all its model calls, or one by task. */
export type ChainPolicy = RetryPolicy | TaskPolicies;
type TaskPolicies = { readonly [Name in PromptName]?: RetryPolicy };

/** The policies of a chain by task, with their numbers as data of a run. The judge of answers makes its calls outside the chart. */
export interface ResolvedPolicies {
  readonly rules: { readonly [T in Task]?: RetryHooks };
  readonly numbers: ChainInput['policies'];
  readonly grading: RetryPolicy;
}

const taskPolicySchema = z.extend(retryPolicySchema, {
  fallbackModels: z.optional(
    z.array(z.unknown()).check(z.maxLength(0, 'expected none; set the option fallbackModels of the chain instead')),
  ),
});
const taskPoliciesSchema = z.strictObject(
  Object.fromEntries(PROMPT_NAMES.map((name) => [name, z.optional(taskPolicySchema)])) as {
    [Name in PromptName]: z.ZodMiniOptional<typeof taskPolicySchema>;
  },
);

/**
 * Returns the policies by task. A plain object with a task's name as a key is by task. The models of a chain are its own option, so a policy
 * names none.
 *
 * @throws PostChainError `invalid_option`
 */
export function resolvePolicies(given: ChainPolicy | undefined): ResolvedPolicies {
  if (given === undefined) return { rules: {}, numbers: {}, grading: {} };
  const isByTask = !isInstance(given) && PROMPT_NAMES.some((name) => Object.hasOwn(given, name));
  const policy = isByTask
    ? Object.fromEntries(Object.entries(given).map(([name, ofTask]) => [name, withBoundRules(ofTask)]))
    : withBoundRules(given);
  parseOption(z.object({ policy: isByTask ? taskPoliciesSchema : taskPolicySchema }), { policy }, 'options');
  const ofTask = (name: PromptName): RetryPolicy =>
    (isByTask ? (policy as TaskPolicies)[name] : (policy as RetryPolicy)) ?? {};
  const byTask = <Value extends object>(of: (policy: RetryPolicy) => Value): Readonly<Record<string, Value>> =>
    Object.fromEntries(
      TASKS.flatMap((task) => {
        const value = of(ofTask(task));
        return Object.keys(value).length === 0 ? [] : [[task, value]];
      }),
    );
  return { rules: byTask(hooksOf), numbers: byTask(numbersOf), grading: ofTask('grading') };
}

/**
 * Returns the rules of all tasks as one set of hooks. Each result is recorded, and a replay or a resumed run uses the recorded one, so
 * that a rule is called once per decision.
 */
export function recordedHooks(rules: ResolvedPolicies['rules']): RetryHooks {
  /** Calls a rule of the task and records its result. Returns undefined if the task does not have the rule. */
  function applyRule<Name extends keyof RetryHooks>(
    name: Name,
    { id, task }: AttemptExecution,
    call: (rule: NonNullable<RetryHooks[Name]>) => unknown,
  ): unknown {
    const rule = rules[task as Task]?.[name];
    return recordOnce(`${name} ${id}`, rule && (() => call(rule)));
  }
  return {
    shouldRetry: (execution, failure) =>
      (applyRule('shouldRetry', execution, (rule) => requireBoolean(rule(execution, failure))) as
        | boolean
        | undefined) ?? true,
    recordFailure: (record, execution) => ({
      ...record,
      ...(applyRule('recordFailure', execution, (rule) =>
        changesOf(record, attemptRecordSchema.parse(rule(record, execution))),
      ) as Partial<AttemptRecord> | undefined),
    }),
    prepareRetry: (next, execution, failure) => ({
      ...next,
      ...(applyRule('prepareRetry', execution, (rule) =>
        changesOf(next, nextCallSchema.parse(rule(next, execution, failure))),
      ) as Partial<NextCall> | undefined),
    }),
    finalizeOrThrow: (failure, execution) =>
      applyRule('finalizeOrThrow', execution, (rule) => toJson(requireValue(rule(failure, execution)))),
  };
}

/** Returns the fields that a rule changed: the journal has the others already. */
function changesOf<Fields extends object>(given: Fields, returned: Fields): Partial<Fields> {
  const isChanged = ([name, value]: readonly [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(given[name as keyof Fields]);
  return Object.fromEntries(Object.entries(returned).filter(isChanged)) as Partial<Fields>;
}

/** A value of a rule is reduced to the JSON that the journal keeps. */
function toJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value) ?? 'null');
}
