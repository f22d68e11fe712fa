import * as z from 'zod/mini';
import { attemptPolicySchema, type PolicyNumbers, policyNumbersSchema } from '../../../machines/contracts/attempt.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { RetryHooks } from '../../../machines/policies/retry.ts';
import { functionSchema, modelSchema, parseOption } from '../../internal/options.ts';
import { AttemptsExhausted } from './attempts-exhausted.ts';

/**
 * When to retry: numbers, fallback models and custom rules, as a plain object or an instance of a class that keeps state. The functions
 * below create policies, and `retryPolicy` combines them; omitted parts have their defaults.
 *
 * The rule names (`shouldRetry`, `recordFailure`, `prepareRetry`, `finalizeOrThrow`) come from the structured-output engine
 * Instructor for PHP.
 */
export interface RetryPolicy extends Omit<RetryHooks, 'finalizeOrThrow'>, Partial<PolicyNumbers> {
  /** The models that take over, in order, when the previous one has no retry left. */
  readonly fallbackModels?: readonly ChatModel[];
  /**
   * Called once when all attempts failed. A returned value is validated and becomes the result; undefined keeps the error. May throw
   * another error instead of the given one.
   */
  readonly finalizeOrThrow?: (exhausted: AttemptsExhausted) => unknown;
}

export function hooksOf(policy: RetryPolicy): RetryHooks {
  const { finalizeOrThrow, shouldRetry, recordFailure, prepareRetry } = withBoundRules(policy);
  return {
    ...(shouldRetry && { shouldRetry }),
    ...(recordFailure && { recordFailure }),
    ...(prepareRetry && { prepareRetry }),
    ...(finalizeOrThrow && {
      finalizeOrThrow: (failure, execution) => finalizeOrThrow(new AttemptsExhausted(failure, execution)),
    }),
  };
}

const { shape } = attemptPolicySchema;

/** A policy of one task or of structured output. Strict: a misspelled number or rule would be ignored silently. */
export const retryPolicySchema = z.strictObject({
  ...z.partial(policyNumbersSchema).shape,
  fallbackModels: z._default(z.array(modelSchema), []),
  shouldRetry: z.optional(functionSchema),
  recordFailure: z.optional(functionSchema),
  prepareRetry: z.optional(functionSchema),
  finalizeOrThrow: z.optional(functionSchema),
});

/**
 * Returns the members of a policy as a plain object, its rules bound to it. Of an instance of a class, only the members of a policy count:
 * the others are its state.
 */
export function withBoundRules<Given>(policy: Given): Given {
  if (typeof policy !== 'object' || policy === null || Array.isArray(policy)) return policy;
  const names = isInstance(policy) ? Object.keys(retryPolicySchema.shape) : Object.keys(policy);
  const members = names.flatMap((name) => {
    const value: unknown = policy[name as keyof typeof policy];
    return value === undefined ? [] : [[name, typeof value === 'function' ? value.bind(policy) : value]];
  });
  // An instance without a member of a policy is another object, for example a model.
  return members.length === 0 ? policy : (Object.fromEntries(members) as Given);
}

/** Whether an object inherits more than the members of every object. The prototype of a plain one may be of another realm. */
export function isInstance(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

export function numbersOf(policy: RetryPolicy): Readonly<Record<string, number | boolean>> {
  const names = Object.keys(policyNumbersSchema.shape) as (keyof PolicyNumbers)[];
  return Object.fromEntries(names.flatMap((name) => (policy[name] === undefined ? [] : [[name, policy[name]]])));
}

/** Sets how many further calls follow an invalid reply: N corrections are N + 1 calls. Default 2. */
export function maxCorrections(count: number): RetryPolicy {
  return { maxCorrections: parseOption(shape.maxCorrections, count, 'maxCorrections') };
}

/** Sets how many further calls follow a transport failure; a separate budget. Default 3. */
export function maxTransportRetries(count: number): RetryPolicy {
  return { maxTransportRetries: parseOption(shape.maxTransportRetries, count, 'maxTransportRetries') };
}

const backoffSchema = z.strictObject({
  baseMs: z.optional(shape.backoffBaseMs.def.innerType),
  maxMs: z.optional(shape.backoffMaxMs.def.innerType),
  jitter: z.optional(shape.backoffJitter.def.innerType),
});

/**
 * Sets the wait before every retry: `baseMs`, doubled each time up to `maxMs`, counted separately for corrections and transport retries.
 * `jitter`, from 0 to 1, is the random share of it. A server's Retry-After takes precedence. Defaults: 500 ms, 30,000 ms, no jitter.
 * Without this policy, corrections start at once.
 */
export function exponentialBackoff(options: Readonly<z.input<typeof backoffSchema>> = {}): RetryPolicy {
  const { baseMs, maxMs, jitter } = parseOption(backoffSchema, options, 'exponentialBackoff');
  return {
    correctionBackoffMs: baseMs ?? shape.backoffBaseMs.parse(undefined),
    ...(baseMs !== undefined && { backoffBaseMs: baseMs }),
    ...(maxMs !== undefined && { backoffMaxMs: maxMs }),
    ...(jitter !== undefined && { backoffJitter: jitter }),
  };
}

const feedbackSchema = z.strictObject({ maxChars: shape.maxFeedbackChars });

/** Sets how many characters of its last reply and of its errors the model sees. Default 8,000; 0 shows nothing. */
export function withErrorFeedback(options: Readonly<z.input<typeof feedbackSchema>> = {}): RetryPolicy {
  return { maxFeedbackChars: parseOption(feedbackSchema, options, 'withErrorFeedback').maxChars };
}

/** Stops when a correction has exactly the same errors as the reply before it. */
export function stopOnRepeatedError(): RetryPolicy {
  return { stopOnRepeatedError: true };
}

const fallbackSchema = z.strictObject({ after: z.optional(shape.fallbackAfter.def.innerType) });

/**
 * Adds a model that takes over when the previous one has no retry left, fails with a non-retryable error (for example a rejected key),
 * or has failed `after` times; if several policies set `after`, the last one counts. The model gets at least one call, and what is
 * left of the budgets.
 */
export function fallbackModel(model: ChatModel, options: Readonly<z.input<typeof fallbackSchema>> = {}): RetryPolicy {
  const { after } = parseOption(fallbackSchema, options, 'fallbackModel');
  return { ...(after !== undefined && { fallbackAfter: after }), fallbackModels: [model] };
}

/** Combines policies: the last number counts, models are concatenated, and all rules apply. */
export function retryPolicy(...given: readonly RetryPolicy[]): RetryPolicy {
  const policies = given.map(withBoundRules);
  const all = <Name extends keyof RetryPolicy>(name: Name) =>
    policies.flatMap((policy) => (policy[name] === undefined ? [] : [policy[name] as NonNullable<RetryPolicy[Name]>]));
  const [should, record, prepare] = [all('shouldRetry'), all('recordFailure'), all('prepareRetry')];
  const finalize = all('finalizeOrThrow');
  return {
    ...Object.assign({}, ...policies),
    fallbackModels: all('fallbackModels').flat(),
    ...(should.length > 0 && {
      // The first answer other than true counts, even an invalid one, which the machine reports.
      shouldRetry: (execution, failure) =>
        should.reduce((retry, rule) => (retry === true ? rule(execution, failure) : retry), true),
    }),
    ...(record.length > 0 && {
      recordFailure: (given, execution) => record.reduce((kept, rule) => rule(kept, execution), given),
    }),
    ...(prepare.length > 0 && {
      prepareRetry: (next, execution, failure) =>
        prepare.reduce((prepared, rule) => rule(prepared, execution, failure), next),
    }),
    ...(finalize.length > 0 && {
      finalizeOrThrow: (exhausted) =>
        finalize.reduce<unknown>((value, rule) => (value === undefined ? rule(exhausted) : value), undefined),
    }),
  } satisfies RetryPolicy;
}
