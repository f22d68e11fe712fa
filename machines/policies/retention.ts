import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';
import type { ContextStatistics, UnderstandingReply } from '../contracts/phases/understanding.ts';
import type { Thresholds } from '../contracts/thresholds.ts';
import { applyOperations } from './context.ts';
import { type OperationList, operationsOfStep } from './operations.ts';
import { referencedIds, relevanceOf } from './relevance.ts';
import { summarise } from './summary.ts';
import { estimateTokens } from './usage.ts';
import { topicWords } from './words.ts';

export interface RetentionInputs {
  readonly messages: readonly Message[];
  readonly request: string;
  readonly cycle: number;
  readonly step: number;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

interface Rated {
  readonly message: Message;
  readonly relevance: number;
}

/** The user has answered for this message: it is not asked about again. */
export const KEPT_BY_USER = 'kept-by-user';
const UNTOUCHABLE = ['pinned', 'critical'];
const isUntouchable = ({ tags }: Message): boolean => tags.some((tag) => UNTOUCHABLE.includes(tag));

/**
 * What Understanding would do with the context [U3-U7, U10]: rules by role first, then, while the context is over its limit, the
 * least relevant search results and assistant messages give way. User content is only ever touched by an operation marked
 * `requiresConsent`; pinned and critical messages by none. Linear but for one sort.
 */
export function retentionOperations(inputs: RetentionInputs): readonly ContextOperation[] {
  const rated = rate(inputs);
  const list = operationsOfStep(inputs.step);
  const newest = inputs.messages.findLast((message) => message.role === 'assistant')?.id;
  for (const one of rated) applyRules(one, newest, inputs, list);
  makeRoom(rated, newest, inputs, list);
  return list.all;
}

function rate({ messages, request, cycle, assessments, thresholds }: RetentionInputs): readonly Rated[] {
  const byModel = new Map(assessments.map(({ messageId, relevance }) => [messageId, relevance]));
  const shared = {
    topic: topicWords(request),
    referenced: referencedIds(messages),
    cycle,
    halfLifeCycles: thresholds.halfLifeCycles,
  };
  return messages.map((message) => {
    const own = relevanceOf(message, shared).score;
    const said = byModel.get(message.id);
    return { message, relevance: said === undefined ? own : (own + said) / 2 };
  });
}

function applyRules(
  { message, relevance }: Rated,
  newest: string | undefined,
  inputs: RetentionInputs,
  list: OperationList,
): void {
  const { thresholds } = inputs;
  if (isUntouchable(message) || message.id === newest) return;
  const metadata = { relevance: round(relevance), role: message.role };
  if (message.role === 'user') {
    if (message.content.length <= thresholds.userMessageChars || message.tags.includes(KEPT_BY_USER)) return;
    const content = summarise(message.content, thresholds.userSummaryChars);
    const reason = `a user message of ${message.content.length} characters is longer than ${thresholds.userMessageChars}`;
    list.push(
      'TRANSFORM',
      message.id,
      { transformation: 'summarize', content, maxChars: thresholds.userSummaryChars },
      reason,
      {
        ...metadata,
        requiresConsent: true,
      },
    );
  } else if (relevance < thresholds.prune) {
    list.push('PRUNE', message.id, {}, `relevance ${round(relevance)} is below ${thresholds.prune}`, metadata);
  } else if (
    message.role === 'assistant' &&
    relevance < thresholds.summarise &&
    message.content.length > thresholds.assistantSummaryChars
  ) {
    const content = summarise(message.content, thresholds.assistantSummaryChars);
    const reason = `relevance ${round(relevance)} is below ${thresholds.summarise}`;
    list.push(
      'TRANSFORM',
      message.id,
      { transformation: 'summarize', content, maxChars: thresholds.assistantSummaryChars },
      reason,
      metadata,
    );
  }
}

function makeRoom(
  rated: readonly Rated[],
  newest: string | undefined,
  inputs: RetentionInputs,
  list: OperationList,
): void {
  const planned = new Map(list.all.filter((one) => !one.metadata['requiresConsent']).map((one) => [one.target, one]));
  let count = 0;
  let tokens = 0;
  const left: Rated[] = [];
  for (const one of rated) {
    const plan = planned.get(one.message.id);
    if (plan?.operation === 'PRUNE') continue;
    count += 1;
    tokens += estimateTokens(plan?.operation === 'TRANSFORM' ? plan.data.content : one.message.content);
    if (one.message.role !== 'user' && one.message.id !== newest && !isUntouchable(one.message)) left.push(one);
  }
  if (count <= inputs.maxMessages && tokens <= inputs.tokensAllowed) return;
  const rank = { search: 0, assistant: 1, user: 2 } as const;
  left.sort((a, b) => rank[a.message.role] - rank[b.message.role] || a.relevance - b.relevance);
  for (const { message, relevance } of left) {
    if (count <= inputs.maxMessages && tokens <= inputs.tokensAllowed) return;
    const why =
      tokens > inputs.tokensAllowed
        ? `${tokens} tokens are over the ${inputs.tokensAllowed} allowed`
        : `${count} messages are over the ${inputs.maxMessages} allowed`;
    list.push('PRUNE', message.id, {}, why, { relevance: round(relevance), role: message.role });
    count -= 1;
    tokens -= estimateTokens(message.content);
  }
}

/** Size of the context before and after [U13]. */
export function statistics(
  messages: readonly Message[],
  operations: readonly ContextOperation[],
  tokensAllowed: number,
): ContextStatistics {
  const after = applyOperations(messages, operations);
  return {
    messagesBefore: messages.length,
    messagesAfter: after.length,
    tokensBefore: tokensOf(messages),
    tokensAfter: tokensOf(after),
    tokensAllowed,
  };
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + estimateTokens(message.content), 0);
}

const round = (value: number): number => Math.round(value * 100) / 100;
