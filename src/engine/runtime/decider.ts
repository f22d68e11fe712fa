import type { DecideContinuationInput } from '../../../machines/action/ports.ts';
import type { DeciderKind } from '../../../machines/contracts/capability.ts';
import { describeValue } from '../../internal/options.ts';

/** The next step, as a decider says it; the arguments as an object, or as JSON text. */
export interface NextStep {
  readonly capability: string;
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** Done, with an output in place of the last result's where one is given and not blank; or one more step [R5]. */
export type DeciderReply =
  | { readonly done: true; readonly finalOutput?: string | null }
  | { readonly done: false; readonly next: NextStep };

/** A function that says what comes after a capability's result [R1]. What it throws ends the loop with the last result [R7]. */
export type DecidingFunction = (
  input: DecideContinuationInput,
  options: { readonly signal: AbortSignal },
) => DeciderReply | Promise<DeciderReply>;

/** The model decides, by the prompt `continuation`. */
export interface ModelDecider {
  readonly decides: 'model';
}

/** Who says what comes after a capability's result; null: nobody, so one capability runs. */
export type Decider = DecidingFunction | ModelDecider | null;

/** Done after the first run: the default [R6]. */
export const noopDecider: DecidingFunction = () => ({ done: true });

/**
 * Asks the chain's own model after each run, with the history of all steps; each question is one more model call of the run's
 * budget, streamed, validated and tried again like any other [R6].
 */
export const modelDecider: ModelDecider = Object.freeze({ decides: 'model' });

export function kindOf(decider: Decider): DeciderKind {
  if (decider === null) return 'none';
  return typeof decider === 'function' ? 'function' : 'model';
}

/** The environment's word for the decider. */
export const CONTINUATION = 'POSTCHAIN_CONTINUATION';

/**
 * The decider that the environment switches on: `POSTCHAIN_CONTINUATION=model`, or `noop`, the default. An unknown value falls back to
 * the default and is told by `warn` [R6].
 */
export function deciderOf(
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): DecidingFunction | ModelDecider {
  const value = env[CONTINUATION];
  if (value === 'model') return modelDecider;
  if (value !== undefined && value !== '' && value !== 'noop')
    warn(`${CONTINUATION}: got ${describeValue(value)}; wanted noop or model; noop is taken.`);
  return noopDecider;
}
