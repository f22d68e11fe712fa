import type { AttemptPolicy } from '../../contracts/attempt-policy.ts';
import type { SynthesisOutcome } from '../../contracts/synthesis.ts';
import type { SynthesisInput } from '../../contracts/synthesis-input.ts';
import { says } from '../../contracts/visible-text.ts';
import { type CallBounds, callLimits } from '../phase-input.ts';
import { composedOutcome, unwritten } from './outcome.ts';
import { fitPrompt } from './prompt-fit.ts';

/** How the answer is to be written: by a model, from so much of the input; or by the engine, and why. */
export type WritingPlan =
  | {
      readonly asks: true;
      readonly input: SynthesisInput;
      readonly promptTokens: number;
      readonly replyTokens: number;
      /** Tokens a character, of these texts. */
      readonly tokensPerChar: number;
    }
  | { readonly asks: false; readonly outcome: SynthesisOutcome };

/**
 * Whether a model may write the final answer [E9]: it is there, the run was not left, and the prompt fits in the reserve with a quarter
 * of it left for the reply, in a window of `windowTokens`. What does not fit of the context is not shown; where even the request and
 * the draft do not fit, the engine composes.
 */
export function planWriting(input: SynthesisInput, windowTokens: number): WritingPlan {
  const { interruption, limits } = input.run;
  const kind = interruption?.kind;
  const reserve = limits.synthesisReserveTokens ?? 0;
  if (kind === 'cancelled' || kind === 'interrupted' || kind === 'model_unavailable' || reserve === 0)
    return { asks: false, outcome: composedOutcome('') };
  if (!says(input.request)) return { asks: false, outcome: unwritten('prompt', 'there is no request') };
  const room = Math.min(reserve, windowTokens);
  const fit = fitPrompt(input, room - Math.ceil(room * REPLY_SHARE));
  if (fit === null)
    return {
      asks: false,
      outcome: composedOutcome(
        `Composed without a model: its prompt does not fit in the ${room} tokens kept for the final answer.`,
      ),
    };
  return { asks: true, ...fit, replyTokens: room - fit.promptTokens };
}

const REPLY_SHARE = 0.25;

/**
 * The bounds of the final answer's calls, all paid from the reserve: at most one correction, one transport retry and one of each fallback, while another
 * prompt fits in what is left of it; no reply is longer than the first prompt left room for.
 */
export function writingPolicy(
  bounds: CallBounds,
  { replyTokens, tokensPerChar }: Extract<WritingPlan, { asks: true }>,
): AttemptPolicy {
  const { limits } = bounds;
  return {
    ...callLimits(bounds),
    maxCorrections: Math.min(1, limits.maxCorrections),
    maxTransportRetries: Math.min(1, limits.maxTransportRetries),
    maxCalls: 3 + bounds.fallbackModels,
    maxTokens: limits.synthesisReserveTokens,
    maxReplyChars: Math.max(1, Math.min(limits.maxReplyChars, Math.floor(replyTokens / tokensPerChar))),
  };
}
