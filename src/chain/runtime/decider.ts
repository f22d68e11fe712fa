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

/** The model decides, with the prompt `continuation`. */
export interface ModelDecider {
  readonly decides: 'model';
}

/** Decides what follows a step. Null: the loop ends after one step. */
export type Decider = DecidingFunction | ModelDecider | null;

/** The default: done after the first step. */
export const noopDecider: DecidingFunction = () => ({ done: true });

/**
 * Asks the chain's own model after each step, with the history of all steps. Each decision is one more model call of the run's budget,
 * streamed, validated and retried like any other.
 */
export const modelDecider: ModelDecider = Object.freeze({ decides: 'model' });

export function deciderKind(decider: Decider): DeciderKind {
  if (decider === null) return 'none';
  if (decider === noopDecider) return 'noop';
  return typeof decider === 'function' ? 'function' : 'model';
}

export const CONTINUATION_VARIABLE = 'POSTCHAIN_CONTINUATION';

/**
 * Returns the decider that the environment selects: `POSTCHAIN_CONTINUATION=model`, or `noop`, the default. Any other value selects
 * the default and calls `warn`.
 */
export function deciderFromEnv(
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): DecidingFunction | ModelDecider {
  const value = env[CONTINUATION_VARIABLE];
  if (value === 'model') return modelDecider;
  if (value !== undefined && value !== '' && value !== 'noop')
    warn(`${CONTINUATION_VARIABLE}: expected "noop" or "model"; received ${describeValue(value)}. Using "noop".`);
  return noopDecider;
}
