import type { DecideContinuationInput } from '../../../machines/action/actors.ts';
import type { DeciderKind } from '../../../machines/contracts/capability.ts';
import { describeValue } from '../../internal/describe-value.ts';

/** One call of the next step; the arguments as an object, or as JSON text. */
export interface NextStep {
  readonly capability: string;
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/**
 * Either done, with an optional output that replaces the last result's if it is not blank; or the next step: one call, or several
 * that run at the same time.
 */
export type DeciderReply =
  | { readonly done: true; readonly finalOutput?: string | null }
  | { readonly done: false; readonly next: NextStep | readonly NextStep[] };

/** Decides what follows a step. If it throws, the loop ends with the last result. */
export type DecidingFunction = (
  input: DecideContinuationInput,
  options: { readonly signal: AbortSignal },
) => DeciderReply | Promise<DeciderReply>;

/**
 * Who decides what follows a round of capability calls: no one, so the loop ends (`none`), the chain's own model, which sees all results
 * (`model`), or a function. Each decision of the model is one more call of the run's budget, with the prompt `continuation`.
 */
export type ContinuationOption = 'none' | 'model' | DecidingFunction;

export function deciderKind(continuation: ContinuationOption): DeciderKind {
  return typeof continuation === 'function' ? 'function' : continuation;
}

export const CONTINUATION_VARIABLE = 'POSTCHAIN_CONTINUATION';

/** Returns the option that the environment selects, `none` by default. Calls `warn` for any other value than `none` and `model`. */
export function continuationFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): 'none' | 'model' {
  const value = env[CONTINUATION_VARIABLE];
  if (value === 'model') return value;
  if (value !== undefined && value !== '' && value !== 'none')
    warn(`${CONTINUATION_VARIABLE}: expected "none" or "model"; received ${describeValue(value)}. Using "none".`);
  return 'none';
}
