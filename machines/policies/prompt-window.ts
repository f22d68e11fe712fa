import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { applyOperations, asksConsent } from './context.ts';
import { visibleMessages } from './progress.ts';
import { callModeOf } from './shared-calls.ts';
import { contextTokens, evaluateContext, NOT_RATED } from './understanding.ts';
import { tokensAllowed } from './usage.ts';

/** The latest view of each context that is too large, because a phase requests the same view several times. */
const views = new WeakMap<readonly Message[], { readonly key: string; readonly view: readonly Message[] }>();

/**
 * Whether consent is settled before the first step, because nothing else can make the context fit: it exceeds the limit
 * even without everything that needs no consent, and the user (or an option) may release some of it.
 */
export function contextMustShrink(state: ChainState): GuardResult {
  const fits = promptFits(state);
  const { step } = state.recursion;
  const isUseless = fits.holds || step > 0 || state.consent === 'keep';
  const askable = isUseless ? 0 : planned(state, true).operations.filter(asksConsent).length;
  return { holds: askable > 0, inputs: { ...fits.inputs, step, askable } };
}

/**
 * Whether a model is asked to rate the context: the profile says so, the context fits into a prompt, and Understanding was not
 * entered early to make it fit.
 */
export function modelMayRate(state: ChainState): GuardResult {
  const { detour } = state;
  const fits = promptFits(state);
  const calls = callModeOf(state, 'understanding');
  return { holds: fits.holds && !detour && calls !== 'policy', inputs: { ...fits.inputs, detour, calls } };
}

/** Whether the messages in the prompt are within the limit. */
function promptFits(state: ChainState): GuardResult {
  const tokens = contextTokens(state, promptMessages(state));
  const allowed = tokensAllowed(state);
  return { holds: tokens <= allowed, inputs: { tokens, tokensAllowed: allowed } };
}

/**
 * Returns the messages to show to a model: the entire context or, if a long history exceeds the limit before
 * Understanding has run, what would remain of it without asking the user. The context itself does not change.
 */
export function promptMessages(state: ChainState): readonly Message[] {
  const messages = visibleMessages(state);
  const allowed = tokensAllowed(state);
  if (contextTokens(state, messages) <= allowed) return messages;
  const { request, tokensPerChar, thresholds, limits, recursion } = state;
  const key = JSON.stringify([request, tokensPerChar, allowed, thresholds, limits.maxMessages, recursion.cycle]);
  const known = views.get(messages);
  if (known?.key === key) return known.view;
  const unasked = planned(state, false).operations.filter((operation) => !asksConsent(operation));
  const view = applyOperations(messages, unasked);
  views.set(messages, { key, view });
  return view;
}

const planned = (state: ChainState, mayAsk: boolean) =>
  evaluateContext(state, visibleMessages(state), NOT_RATED, mayAsk);
