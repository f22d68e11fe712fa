import type { ContextMeasures, ContextOperation } from '../../contracts/context.ts';
import type { Message } from '../../contracts/message.ts';
import type { ContextStatistics, Pruning } from '../../contracts/phase-io.ts';
import { preview } from '../../text/summary.ts';
import { isLoss, type Loss } from '../context.ts';
import { summaryTokens, TOKENS_PER_CHAR } from '../usage.ts';

/** Measures with estimated tokens, for messages that no tokenizer measured. */
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
  summarised: 0,
  tokensOver: 0,
  messagesOver: 0,
};

interface Evaluated {
  readonly messages: readonly Message[];
  readonly measures: Pick<ContextMeasures, 'tokens' | 'estimated'>;
  readonly operations: readonly ContextOperation[];
  readonly tokensAllowed: number;
  readonly maxMessages: number;
}

/** The size of the context before and after the operations. */
export function statistics({
  messages,
  measures,
  operations,
  tokensAllowed,
  maxMessages,
}: Evaluated): ContextStatistics {
  const change = new Map(operations.filter(isLoss).map((operation) => [operation.target, operation]));
  const left = messages.map(({ id, content }, at) => tokensLeft(measures.tokens[at] ?? 0, content, change.get(id)));
  const pruned = left.filter((tokens) => tokens === null).length;
  const messagesAfter = messages.length - pruned;
  const sum = (all: readonly (number | null)[]): number => Math.round(all.reduce((a: number, b) => a + (b ?? 0), 0));
  const tokensAfter = sum(left);
  return {
    messagesBefore: messages.length,
    messagesAfter,
    tokensBefore: sum(measures.tokens),
    tokensAfter,
    tokensAllowed,
    estimated: measures.estimated,
    pruned,
    summarised: [...change.values()].filter(({ operation }) => operation === 'TRANSFORM').length,
    tokensOver: Math.max(0, tokensAfter - tokensAllowed),
    messagesOver: Math.max(0, messagesAfter - maxMessages),
  };
}

/** Null if the message is removed. */
function tokensLeft(tokens: number, content: string, change: Loss | undefined): number | null {
  if (change === undefined) return tokens;
  if (change.operation === 'PRUNE') return null;
  return summaryTokens(tokens, content, change.data.content);
}

/** What was removed or shortened and why, one entry per operation. */
export function pruningLog(
  operations: readonly ContextOperation[],
  messages: readonly Message[],
  tokens: readonly number[],
): readonly Pruning[] {
  const places = new Map(messages.map(({ id }, at) => [id, at]));
  return operations.filter(isLoss).flatMap(({ id, operation, target, reason, metadata }): Pruning[] => {
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
        reason,
      },
    ];
  });
}
