import type { ChainState } from '../contracts/chain-state.ts';
import type { Message } from '../contracts/message.ts';
import { applyOperations } from './context.ts';
import { contextTokens, evaluateContext, tokensAllowed } from './phases/understanding.ts';
import { visibleMessages } from './progress.ts';

/** The newest view of a context that was too large. Nothing else depends on it. */
let newest: { readonly messages: readonly Message[]; readonly allowed: number; readonly view: readonly Message[] } = {
  messages: [],
  allowed: 0,
  view: [],
};

/**
 * The context as a model is shown it [U10]: all of it, or, where a long history is over the limit before Understanding could say
 * anything, what would be left of it without asking the user. The context itself stays as it is.
 */
export function promptMessages(state: ChainState): readonly Message[] {
  const messages = visibleMessages(state);
  const allowed = tokensAllowed(state);
  if (contextTokens(state, messages) <= allowed) return messages;
  if (newest.messages !== messages || newest.allowed !== allowed) {
    const { operations } = evaluateContext(state, messages, { integrated: '', assessments: [] });
    const unasked = operations.filter(({ metadata }) => metadata['requiresConsent'] !== true);
    newest = { messages, allowed, view: applyOperations(messages, unasked) };
  }
  return newest.view;
}
