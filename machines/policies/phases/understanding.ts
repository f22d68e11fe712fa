import type { ChainState } from '../../contracts/chain-state.ts';
import type { ContextOperation } from '../../contracts/context-operation.ts';
import type { Message } from '../../contracts/message.ts';
import type { UnderstandingReply, UnderstandingResult } from '../../contracts/phases/understanding.ts';
import { retentionOperations } from '../retention.ts';
import { statistics } from '../retention-limits.ts';
import type { Made } from './made.ts';

/** Tokens that the context may fill [U10]. */
export function tokensAllowed(state: ChainState): number {
  return Math.floor(state.contextWindowTokens * state.thresholds.windowShare);
}

/** What Understanding would like to do; nothing of the user's is touched before consent [U8]. */
export function evaluateContext(
  state: ChainState,
  messages: readonly Message[],
  reply: UnderstandingReply,
): readonly ContextOperation[] {
  return retentionOperations({
    messages,
    request: state.request,
    cycle: state.recursion.cycle,
    step: state.recursion.step,
    assessments: reply.assessments,
    thresholds: state.thresholds,
    maxMessages: state.limits.maxMessages,
    tokensAllowed: tokensAllowed(state),
  });
}

/** Understanding once consent is settled [U7, U13]. */
export function makeUnderstanding(state: ChainState, messages: readonly Message[]): Made<UnderstandingResult> {
  const reply = state.evaluation?.reply ?? { integrated: '', assessments: [] };
  const operations = state.evaluation?.operations ?? [];
  const size = statistics(messages, operations, tokensAllowed(state));
  return {
    result: { phase: 'understanding', step: state.recursion.step, reply, statistics: size },
    content: reply.integrated,
    operations,
  };
}
