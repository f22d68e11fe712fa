import type { ChainState, Evaluation } from '../../contracts/chain-state.ts';
import type { ContextMeasures } from '../../contracts/context-measures.ts';
import type { GuardResult } from '../../contracts/guard-result.ts';
import type { Message } from '../../contracts/message.ts';
import type { UnderstandingReply, UnderstandingResult } from '../../contracts/phases/understanding.ts';
import { planRetention } from '../retention/retention.ts';
import { estimatedMeasures, pruningLog, statistics } from '../retention/statistics.ts';
import type { PhaseOutput } from './phase-output.ts';

/** What is said of a context that no model was asked about. */
export const NOT_RATED: UnderstandingReply = { integrated: '', assessments: [] };

/** Tokens that the context may fill [U10]. */
export function tokensAllowed(state: ChainState): number {
  return Math.floor(state.contextWindowTokens * state.thresholds.windowShare);
}

/** A UTF-16 unit has at most three bytes, and a tokenizer never makes more tokens than bytes. */
const MOST_TOKENS_PER_CHAR = 3;

/** Whether measuring could change anything: there are embeddings, or the context may be over its limit. */
export function measuringPays(state: ChainState, messages: readonly Message[]): GuardResult {
  const mostTokens = MOST_TOKENS_PER_CHAR * charsOf(messages);
  const allowed = tokensAllowed(state);
  const { hasEmbeddings } = state;
  return {
    holds: hasEmbeddings || mostTokens > allowed,
    inputs: { mostTokens, tokensAllowed: allowed, hasEmbeddings },
  };
}

/** What was measured, kept for the evaluation; and how many tokens a character has, for what is added until the next one. */
export function takeMeasures(messages: readonly Message[], measures: ContextMeasures): Partial<ChainState> {
  if (measures.tokens.length !== messages.length) return {};
  const tokens = measures.tokens.reduce((sum, one) => sum + one, 0);
  const chars = charsOf(messages);
  return { measures, ...(tokens > 0 && chars > 0 && { tokensPerChar: tokens / chars }) };
}

/** Nothing could be measured, or not in time: tokens are estimated, and the evaluation says so. */
export function noteUnmeasured(state: ChainState, messages: readonly Message[]): Partial<ChainState> {
  return {
    measures: { ...estimatedMeasures(messages, state.tokensPerChar), failure: 'the context was not measured in time' },
  };
}

/** Tokens of the context by what a character weighed when it was last measured. */
export function contextTokens({ tokensPerChar }: ChainState, messages: readonly Message[]): number {
  return Math.ceil(charsOf(messages) * tokensPerChar);
}

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/** What Understanding would like to do; nothing of the user's is touched before consent [U8]. */
export function evaluateContext(
  state: ChainState,
  messages: readonly Message[],
  reply: UnderstandingReply,
): Evaluation {
  const measures = state.measures ?? estimatedMeasures(messages, state.tokensPerChar);
  const { operations } = planRetention({
    messages,
    tokens: measures.tokens,
    similarity: measures.similarity,
    request: state.request,
    cycle: state.recursion.cycle,
    step: state.recursion.step,
    mayAsk: !state.consentAsked,
    assessments: reply.assessments,
    thresholds: state.thresholds,
    maxMessages: state.limits.maxMessages,
    tokensAllowed: tokensAllowed(state),
  });
  return { reply, measures, operations };
}

/** Understanding once consent is settled [U7, U13]. */
export function makeUnderstanding(state: ChainState, messages: readonly Message[]): PhaseOutput<UnderstandingResult> {
  const evaluation = state.evaluation ?? evaluateContext(state, messages, NOT_RATED);
  const { reply, operations, measures } = evaluation;
  const room = { tokensAllowed: tokensAllowed(state), maxMessages: state.limits.maxMessages };
  return {
    result: {
      phase: 'understanding',
      step: state.recursion.step,
      reply,
      statistics: statistics({ messages, measures, operations, ...room }),
      pruningLog: pruningLog(operations, messages, measures.tokens),
      problem: measures.failure,
    },
    content: reply.integrated,
    operations,
  };
}
