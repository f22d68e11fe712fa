import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState, Evaluation } from '../contracts/chain-state.ts';
import type { ContextMeasures, ContextOperation } from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import type { SummaryInput, SummaryReply, UnderstandingReply, UnderstandingResult } from '../contracts/phase-io.ts';
import { summarize } from '../text/summary.ts';
import { chargeExecution, type PhaseOutput, visibleMessages } from './progress.ts';
import { planRetention } from './retention/retention.ts';
import { estimatedMeasures, pruningLog, statistics } from './retention/statistics.ts';

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

/** Of a longer text only the beginning is given to the model. */
const MAX_CHARS = 20_000;

/** The summaries that a model is asked for: extracts, until it writes better ones; as many as its window has room for [U5]. */
function planned(state: ChainState): readonly Extract<ContextOperation, { operation: 'TRANSFORM' }>[] {
  const all = (state.evaluation?.operations ?? []).filter((one) => one.operation === 'TRANSFORM');
  const chars = new Map(visibleMessages(state).map(({ id, content }) => [id, Math.min(content.length, MAX_CHARS)]));
  let room = tokensAllowed(state) / state.tokensPerChar;
  return all.slice(0, state.limits.maxSummaries).filter(({ target }) => {
    room -= chars.get(target) ?? 0;
    return room >= 0;
  });
}

/** Whether a model is asked for summaries: where some are planned, and a call is left. */
export function summariesWanted(state: ChainState): GuardResult {
  const { usage, limits } = state;
  const summaries = planned(state).length;
  const callsLeft = limits.maxModelCalls - usage.modelCalls;
  return { holds: summaries > 0 && callsLeft > 1, inputs: { summaries, callsLeft } };
}

export function summaryInput(state: ChainState): SummaryInput {
  const byId = new Map(visibleMessages(state).map(({ id, content }) => [id, content]));
  const texts = planned(state).map(({ target, data }) => ({
    messageId: target,
    content: (byId.get(target) ?? data.content).slice(0, MAX_CHARS),
    maxChars: data.maxChars,
  }));
  return { request: state.request, texts };
}

/** The model's summaries in place of the extracts, never longer than asked; where the call failed, the extracts stay. */
export function takeSummaries(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const charged = chargeExecution(state, outcome.execution);
  const { evaluation } = state;
  if (!outcome.ok || evaluation === null) return charged;
  const asked = new Set(planned(state));
  const written = new Map(
    (outcome.value as SummaryReply).summaries.map(({ messageId, summary }) => [messageId, summary]),
  );
  const operations = evaluation.operations.map((operation): ContextOperation => {
    if (operation.operation !== 'TRANSFORM' || !asked.has(operation)) return operation;
    const content = summarize(written.get(operation.target) ?? '', operation.data.maxChars);
    if (content === '') return operation;
    return {
      ...operation,
      data: { ...operation.data, content },
      metadata: { ...operation.metadata, summaryBy: 'model' },
    };
  });
  return { ...charged, evaluation: { ...evaluation, operations } };
}
