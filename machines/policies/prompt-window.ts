import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { applyOperations, asksConsent } from './context.ts';
import { visibleMessages } from './progress.ts';
import { contextTokens, evaluateContext, NOT_RATED, tokensAllowed } from './understanding.ts';

/** A context that was too large, as it was shown, and what that was made from: a phase asks for the same view several times. */
const views = new WeakMap<readonly Message[], { readonly key: string; readonly view: readonly Message[] }>();

/**
 * Whether only the user can make the context fit, before anything else is done [U10]: the history is over the limit even without all
 * that may go, and something of it is the user's to let go.
 */
export function contextMustShrink(state: ChainState): GuardResult {
  const fits = promptFits(state);
  const { step } = state.recursion;
  const askable = fits.holds || step > 0 ? 0 : plan(state).operations.filter(asksConsent).length;
  return { holds: askable > 0, inputs: { ...fits.inputs, step, askable } };
}

/** Whether a model is asked to rate the context: one that it can be shown, and in its turn. */
export function modelMayRate(state: ChainState): GuardResult {
  const { detour } = state;
  const fits = promptFits(state);
  return { holds: fits.holds && !detour, inputs: { ...fits.inputs, detour } };
}

/** Whether what a model is shown is within the limit. */
function promptFits(state: ChainState): GuardResult {
  const tokens = contextTokens(state, promptMessages(state));
  const allowed = tokensAllowed(state);
  return { holds: tokens <= allowed, inputs: { tokens, tokensAllowed: allowed } };
}

/**
 * The context as a model is shown it [U10]: all of it, or, where a long history is over the limit before Understanding could say
 * anything, what would be left of it without asking the user. The context itself stays as it is.
 */
export function promptMessages(state: ChainState): readonly Message[] {
  const messages = visibleMessages(state);
  if (contextTokens(state, messages) <= tokensAllowed(state)) return messages;
  const { request, tokensPerChar, contextWindowTokens, thresholds, limits, recursion } = state;
  const key = JSON.stringify([
    request,
    tokensPerChar,
    contextWindowTokens,
    thresholds,
    limits.maxMessages,
    recursion.cycle,
  ]);
  const known = views.get(messages);
  if (known?.key === key) return known.view;
  const unasked = plan(state).operations.filter((operation) => !asksConsent(operation));
  const view = applyOperations(messages, unasked);
  views.set(messages, { key, view });
  return view;
}

const plan = (state: ChainState) => evaluateContext(state, visibleMessages(state), NOT_RATED);
