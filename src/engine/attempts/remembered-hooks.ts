import type { RetryHooks } from '../../../machines/policies/retry-hooks.ts';

/** What a rule of the user's own threw last: the machine keeps only its words, as it keeps nothing that is no JSON. */
export interface Thrown {
  error: unknown;
}

/** The same rules, whose errors are remembered on their way. */
export function rememberedHooks({ shouldRetry, recordFailure, prepareRetry }: RetryHooks, thrown: Thrown): RetryHooks {
  return {
    ...(shouldRetry && { shouldRetry: remembered(shouldRetry, thrown) }),
    ...(recordFailure && { recordFailure: remembered(recordFailure, thrown) }),
    ...(prepareRetry && { prepareRetry: remembered(prepareRetry, thrown) }),
  };
}

function remembered<Args extends readonly unknown[], Value>(rule: (...args: Args) => Value, thrown: Thrown) {
  return (...args: Args): Value => {
    try {
      return rule(...args);
    } catch (error) {
      thrown.error = error;
      throw error;
    }
  };
}
