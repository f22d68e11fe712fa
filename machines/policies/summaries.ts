import type { AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import type { ContextOperation } from '../contracts/context-operation.ts';
import type { GuardResult } from '../contracts/guard-result.ts';
import type { SummaryInput, SummaryReply } from '../contracts/summary.ts';
import { tokensAllowed } from './phases/understanding.ts';
import { chargeExecution, visibleMessages } from './progress.ts';
import { summarize } from './summary.ts';

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
