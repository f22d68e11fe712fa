import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState, ContextEvaluation } from '../contracts/chain-state.ts';
import type { ContextMeasures, ContextOperation } from '../contracts/context.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import type {
  ContextStatistics,
  Pruning,
  SummaryInput,
  SummaryReply,
  UnderstandingReply,
  UnderstandingResult,
} from '../contracts/phase-io.ts';
import { firstChars } from '../text/clip.ts';
import { preview, summarize } from '../text/summary.ts';
import { applyOperations, fixedMessages, isLoss, type Loss, withConsentFor } from './context.ts';
import { addedTokens, attributeChars, tokensOfFiles } from './message-parts.ts';
import { chargeExecution, type PhaseOutput, visibleMessages } from './progress.ts';
import { planRetention } from './retention.ts';
import { summaryTokens, TOKENS_PER_CHAR, tokensAllowed } from './usage.ts';

/** Stands for the reply if no model rated the context. */
export const NOT_RATED: UnderstandingReply = { integrated: '', assessments: [] };

/** A UTF-16 unit has at most three bytes, and a tokenizer never produces more tokens than bytes. */
const MOST_TOKENS_PER_CHAR = 3;

/** Whether measuring could change anything: there are embeddings, or the context may exceed its limit. */
export function measuringPays(state: ChainState, messages: readonly Message[]): GuardResult {
  const mostChars = charsOf(messages) + messages.reduce((sum, one) => sum + attributeChars(one), 0);
  const files = messages.flatMap(({ attachments = [] }) => attachments);
  const mostTokens = MOST_TOKENS_PER_CHAR * mostChars + tokensOfFiles(files);
  const allowed = tokensAllowed(state);
  const { hasEmbeddings } = state;
  return {
    holds: hasEmbeddings || mostTokens > allowed,
    inputs: { mostTokens, tokensAllowed: allowed, hasEmbeddings },
  };
}

/** Keeps the measures for the evaluation, and the tokens per character for messages added later. */
export function assignMeasures(messages: readonly Message[], measures: ContextMeasures): Partial<ChainState> {
  if (measures.tokens.length !== messages.length) return {};
  const tokens = measures.tokens.reduce((sum, one) => sum + one, 0);
  const chars = charsOf(messages);
  return { measures, ...(tokens > 0 && chars > 0 && { tokensPerChar: tokens / chars }) };
}

/** Estimates the tokens because the measurement failed or timed out; the evaluation reports it. */
export function assignEstimates(state: ChainState, messages: readonly Message[]): Partial<ChainState> {
  return {
    measures: { ...estimatedMeasures(messages, state.tokensPerChar), failure: 'the context was not measured in time' },
  };
}

/**
 * Returns the tokens of the context in a prompt, with the attributes of its messages, by the tokens per character at the
 * last measurement.
 */
export function contextTokens({ tokensPerChar }: ChainState, messages: readonly Message[]): number {
  const added = messages.reduce((sum, message) => sum + addedTokens(message, tokensPerChar), 0);
  return Math.ceil(charsOf(messages) * tokensPerChar + added);
}

const addedTokensOf = ({ tokensPerChar }: ChainState, messages: readonly Message[]): readonly number[] =>
  messages.map((message) => addedTokens(message, tokensPerChar));

function charsOf(messages: readonly Message[]): number {
  return messages.reduce((sum, { content }) => sum + content.length, 0);
}

/**
 * Returns what Understanding proposes to do. User content changes only after consent; if the user may be asked, the plan
 * assumes that they agree.
 */
export function evaluateContext(
  state: ChainState,
  messages: readonly Message[],
  reply: UnderstandingReply,
  mayAsk = !state.consentAsked && state.consent !== 'keep',
): ContextEvaluation {
  const measures = state.measures ?? estimatedMeasures(messages, state.tokensPerChar);
  const { assessments } = reply;
  const added = addedTokensOf(state, messages);
  const { operations } = planRetention({ ...planInputs(state), ...measures, messages, added, assessments, mayAsk });
  return { reply, prose: false, attemptId: null, measures, operations };
}

/** Returns the evaluation to be decided about: what the policy proposes, marked for consent. */
export function proposedEvaluation(
  state: ChainState,
  reply: UnderstandingReply,
  { prose, attemptId }: Pick<ContextEvaluation, 'prose' | 'attemptId'> = { prose: false, attemptId: null },
): ContextEvaluation {
  const evaluation = evaluateContext(state, visibleMessages(state), reply);
  return { ...evaluation, prose, attemptId, operations: withConsentFor(evaluation.operations, state.consentFor) };
}

function planInputs({ request, recursion, lastMessageAtMs, thresholds, limits, ...state }: ChainState) {
  const { cycle, step } = recursion;
  const { maxMessages } = limits;
  const allowed = tokensAllowed({ thresholds, ...state });
  return { request, cycle, step, nowMs: lastMessageAtMs, thresholds, maxMessages, tokensAllowed: allowed };
}

/**
 * Returns the operations to apply. If the user kept more than the plan assumed, what no longer fits is removed, as far as
 * that needs no consent.
 */
function fittedOperations(
  state: ChainState,
  messages: readonly Message[],
  { operations, measures, reply }: ContextEvaluation,
): readonly ContextOperation[] {
  const wasAsked = operations.some(({ metadata }) => metadata['consent'] !== undefined);
  if (!wasAsked || state.consentFor === 'all') return operations;
  const left = applyOperations(messages, operations);
  const placeOf = new Map(messages.map(({ id }, at) => [id, at]));
  const places = left.map(({ id }) => placeOf.get(id) ?? -1);
  const tokens = left.map(({ content }, at) => {
    const place = places[at] ?? -1;
    return summaryTokens(measures.tokens[place] ?? 0, messages[place]?.content ?? content, content);
  });
  const similarity = measures.similarity && places.map((place) => measures.similarity?.[place] ?? 0);
  const { assessments } = reply;
  const added = addedTokensOf(state, left);
  const inputs = { ...planInputs(state), messages: left, tokens, added, similarity, assessments, mayAsk: false };
  const further = planRetention(inputs).operations.map(
    (operation, at): ContextOperation => ({
      ...operation,
      id: `s${state.recursion.step}.o${operations.length + at + 1}`,
    }),
  );
  const replaced = new Set(further.filter(isLoss).map(({ target }) => target));
  return [...operations.filter((operation) => !isLoss(operation) || !replaced.has(operation.target)), ...further];
}

export function understandingOutput(state: ChainState, messages: readonly Message[]): PhaseOutput<UnderstandingResult> {
  const planned = state.evaluation ?? evaluateContext(state, messages, NOT_RATED);
  // The user may have changed the context since it was measured.
  const isMeasured = planned.measures.tokens.length === messages.length;
  const measures = isMeasured ? planned.measures : estimatedMeasures(messages, state.tokensPerChar);
  const evaluation = { ...planned, measures };
  const { reply, prose } = evaluation;
  const operations = fittedOperations(state, messages, evaluation);
  const contextLimits = { tokensAllowed: tokensAllowed(state), maxMessages: state.limits.maxMessages };
  return {
    result: {
      phase: 'understanding',
      step: state.recursion.step,
      reply,
      prose,
      statistics: statistics({
        messages,
        measures,
        added: addedTokensOf(state, messages),
        operations,
        ...contextLimits,
      }),
      pruningLog: pruningLog(operations, messages, measures.tokens),
      problem: measures.failure,
    },
    content: reply.integrated,
    operations,
  };
}

/** The model reads only the beginning of a longer text. */
const MAX_CHARS = 20_000;

/** Returns the summaries to request from a model, as many as its context window allows. Until then they are extracts. */
function plannedSummaries(state: ChainState): readonly Extract<ContextOperation, { operation: 'TRANSFORM' }>[] {
  const all = (state.evaluation?.operations ?? []).filter((one) => one.operation === 'TRANSFORM');
  const chars = new Map(visibleMessages(state).map(({ id, content }) => [id, Math.min(content.length, MAX_CHARS)]));
  let charsLeft = tokensAllowed(state) / state.tokensPerChar;
  return all.slice(0, state.limits.maxSummaries).filter(({ target }) => {
    charsLeft -= chars.get(target) ?? 0;
    return charsLeft >= 0;
  });
}

export function summariesWanted(state: ChainState): GuardResult {
  const { usage, limits } = state;
  const summaries = plannedSummaries(state).length;
  const callsLeft = limits.maxModelCalls - usage.modelCalls;
  return { holds: summaries > 0 && callsLeft > 1, inputs: { summaries, callsLeft } };
}

export function summaryInput(state: ChainState): SummaryInput {
  const byId = new Map(visibleMessages(state).map(({ id, content }) => [id, content]));
  const texts = plannedSummaries(state).map(({ target, data }) => ({
    messageId: target,
    content: firstChars(byId.get(target) ?? data.content, MAX_CHARS),
    maxChars: data.maxChars,
  }));
  return { request: state.request, texts };
}

/** Replaces extracts with the model's summaries, shortened to the maximum; if the call failed, the extracts stay. */
export function assignSummaries(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const charged = chargeExecution(state, outcome.execution);
  const { evaluation } = state;
  if (!outcome.ok || evaluation === null) return charged;
  const asked = new Set(plannedSummaries(state));
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

export function estimatedMeasures(messages: readonly Message[], tokensPerChar = TOKENS_PER_CHAR): ContextMeasures {
  const tokens = messages.map(({ content }) => Math.ceil(content.length * tokensPerChar));
  return { tokens, estimated: true, similarity: null, failure: null };
}

/** The statistics of a context that was never evaluated. */
export const NO_STATISTICS: ContextStatistics = {
  messagesBefore: 0,
  messagesAfter: 0,
  tokensBefore: 0,
  tokensAfter: 0,
  tokensAllowed: 0,
  estimated: true,
  pruned: 0,
  summarized: 0,
  tokensOver: 0,
  messagesOver: 0,
};

interface Evaluated {
  readonly messages: readonly Message[];
  readonly measures: Pick<ContextMeasures, 'tokens' | 'estimated'>;
  /** Tokens that a prompt adds to each message, in order; none by default. */
  readonly added?: readonly number[];
  readonly operations: readonly ContextOperation[];
  readonly tokensAllowed: number;
  readonly maxMessages: number;
}

export function statistics({
  messages,
  measures,
  added = [],
  operations,
  tokensAllowed,
  maxMessages,
}: Evaluated): ContextStatistics {
  const change = new Map(operations.filter(isLoss).map((operation) => [operation.target, operation]));
  const left = messages.map(({ id, content }, at) => {
    const tokens = tokensAfterOperation(measures.tokens[at] ?? 0, content, change.get(id));
    return tokens === null ? null : tokens + (added[at] ?? 0);
  });
  const remaining = messages.filter((_, at) => left[at] !== null);
  const sum = (all: readonly (number | null)[]): number => Math.round(all.reduce((a: number, b) => a + (b ?? 0), 0));
  const tokensAfter = sum(left);
  return {
    messagesBefore: messages.length,
    messagesAfter: remaining.length,
    tokensBefore: sum([...measures.tokens, ...added]),
    tokensAfter,
    tokensAllowed,
    estimated: measures.estimated,
    pruned: messages.length - remaining.length,
    summarized: [...change.values()].filter(({ operation }) => operation === 'TRANSFORM').length,
    tokensOver: Math.max(0, tokensAfter - tokensAllowed),
    messagesOver: Math.max(0, removableCount(remaining) - maxMessages),
  };
}

function removableCount(messages: readonly Message[]): number {
  const fixed = fixedMessages(messages);
  return messages.filter((message) => message.role !== 'user' && !fixed.has(message)).length;
}

/** Returns the tokens of a message after an operation; null if the message is removed. */
function tokensAfterOperation(tokens: number, content: string, change: Loss | undefined): number | null {
  if (change === undefined) return tokens;
  if (change.operation === 'PRUNE') return null;
  return summaryTokens(tokens, content, change.data.content);
}

/** Returns what was removed or shortened and why, one entry per operation. */
export function pruningLog(
  operations: readonly ContextOperation[],
  messages: readonly Message[],
  tokens: readonly number[],
): readonly Pruning[] {
  const places = new Map(messages.map(({ id }, at) => [id, at]));
  return operations.filter(isLoss).flatMap(({ id, operation, target, code, reason, metadata }): Pruning[] => {
    const at = places.get(target) ?? -1;
    const message = messages[at];
    if (message === undefined) return [];
    const relevance = typeof metadata['relevance'] === 'number' ? metadata['relevance'] : null;
    return [
      {
        operationId: id,
        operation,
        messageId: target,
        role: message.role,
        preview: preview(message.content),
        tokens: Math.round(tokens[at] ?? 0),
        relevance,
        code,
        reason,
      },
    ];
  });
}
