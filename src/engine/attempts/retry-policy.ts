import { z } from 'zod';
import { attemptPolicySchema } from '../../../machines/contracts/attempt.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { RetryHooks } from '../../../machines/policies/retry-hooks.ts';
import { invalidOption } from '../../internal/options.ts';
import type { AttemptsExhausted } from './attempts-exhausted.ts';

/**
 * When to try again, as a plain object [A3]: numbers, the models to fall back on, and rules of your own. Made by the functions below
 * and put together by `retryPolicy`; what is left out is as it is by default.
 *
 * The words of the idea's source (`shouldRetry`, `recordFailure`, `prepareRetry`, `finalizeOrThrow`) are those of the structured-output
 * engine Instructor for PHP.
 */
export interface RetryPolicy extends RetryHooks, Partial<PolicyNumbers> {
  /** What takes over, in order, where the model before it has no retry left. */
  readonly fallbackModels?: readonly ChatModel[];
  /** The last word when there is no value: may throw an error of its own in place of the one it is given. */
  readonly finalizeOrThrow?: (exhausted: AttemptsExhausted) => void;
}

/** The part of a policy that is data. */
export const policyNumbersSchema = attemptPolicySchema.pick({
  maxCorrections: true,
  maxTransportRetries: true,
  backoffBaseMs: true,
  backoffMaxMs: true,
  backoffJitter: true,
  maxFeedbackChars: true,
  stopOnRepeatedError: true,
  fallbackAfter: true,
});
type PolicyNumbers = Readonly<z.infer<typeof policyNumbersSchema>>;

const { shape } = attemptPolicySchema;

/** Further calls after a reply that does not validate; N corrections are N + 1 calls. Default 2. */
export function maxCorrections(count: number): RetryPolicy {
  return { maxCorrections: read('maxCorrections', shape.maxCorrections, count) };
}

/** Further calls after a transport failure, a budget of its own. Default 3. */
export function maxTransportRetries(count: number): RetryPolicy {
  return { maxTransportRetries: read('maxTransportRetries', shape.maxTransportRetries, count) };
}

const backoffSchema = z.strictObject({
  baseMs: shape.backoffBaseMs.unwrap().optional(),
  maxMs: shape.backoffMaxMs.unwrap().optional(),
  jitter: shape.backoffJitter.unwrap().optional(),
});

/**
 * The wait before a transport retry: `baseMs`, doubled each time up to `maxMs`. `jitter`, from 0 to 1, is the share of it that is
 * drawn. What a server asks for in Retry-After comes before it. What is left out stays as it is: by default 500 ms, 30,000 ms and no
 * jitter.
 */
export function exponentialBackoff(options: Readonly<z.input<typeof backoffSchema>> = {}): RetryPolicy {
  const { baseMs, maxMs, jitter } = read('exponentialBackoff', backoffSchema, options);
  return {
    ...(baseMs !== undefined && { backoffBaseMs: baseMs }),
    ...(maxMs !== undefined && { backoffMaxMs: maxMs }),
    ...(jitter !== undefined && { backoffJitter: jitter }),
  };
}

const feedbackSchema = z.strictObject({ maxChars: shape.maxFeedbackChars });

/** How much of its last reply and of what was wrong with it the model is shown, in characters. Default 8,000; 0 shows nothing. */
export function withErrorFeedback(options: Readonly<z.input<typeof feedbackSchema>> = {}): RetryPolicy {
  return { maxFeedbackChars: read('withErrorFeedback', feedbackSchema, options).maxChars };
}

/** Ends the attempts when a correction is wrong in exactly the way that the reply before it was. */
export function stopOnRepeatedError(): RetryPolicy {
  return { stopOnRepeatedError: true };
}

const fallbackSchema = z.strictObject({ after: shape.fallbackAfter.unwrap().optional() });

/**
 * Another model takes over where the one before it has no retry left or fails without hope (a refused key, say), or after as many
 * failed attempts of that one as `after` says; of several, the last `after` counts for all. It is called once at least, and has what
 * is left of the budgets.
 */
export function fallbackModel(model: ChatModel, options: Readonly<z.input<typeof fallbackSchema>> = {}): RetryPolicy {
  const { after } = read('fallbackModel', fallbackSchema, options);
  return { ...(after !== undefined && { fallbackAfter: after }), fallbackModels: [model] };
}

/** Several policies as one: of numbers the last counts, models are lined up, and every rule is asked. */
export function retryPolicy(...policies: readonly RetryPolicy[]): RetryPolicy {
  const all = <Name extends keyof RetryPolicy>(name: Name) =>
    policies.flatMap((policy) => (policy[name] === undefined ? [] : [policy[name] as NonNullable<RetryPolicy[Name]>]));
  const [should, record, prepare] = [all('shouldRetry'), all('recordFailure'), all('prepareRetry')];
  const finalize = all('finalizeOrThrow');
  return {
    ...Object.assign({}, ...policies),
    fallbackModels: all('fallbackModels').flat(),
    ...(should.length > 0 && {
      // The first answer that is no yes, whatever it is: what is no answer at all is told as such.
      shouldRetry: (execution, failure) =>
        should.reduce((wanted, rule) => (wanted === true ? rule(execution, failure) : wanted), true),
    }),
    ...(record.length > 0 && {
      recordFailure: (given, execution) => record.reduce((kept, rule) => rule(kept, execution), given),
    }),
    ...(prepare.length > 0 && {
      prepareRetry: (next, execution, failure) =>
        prepare.reduce((prepared, rule) => rule(prepared, execution, failure), next),
    }),
    ...(finalize.length > 0 && {
      finalizeOrThrow: (exhausted) => {
        for (const rule of finalize) rule(exhausted);
      },
    }),
  } satisfies RetryPolicy;
}

/** @throws PostChainError `invalid_option` for a number out of its range, or a name that there is not. */
function read<Schema extends z.ZodType>(what: string, schema: Schema, given: unknown): z.output<Schema> {
  const checked = schema.safeParse(given);
  if (checked.success) return checked.data;
  throw invalidOption(what, given, checked.error, schema);
}
