import type { Rated } from '../relevance/rating.ts';
import {
  decideToRemove,
  decideToSummarize,
  type RetentionDecisions,
  tokensLeft,
  tokensOnceAgreed,
} from './decisions.ts';

export interface ContextLimits {
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

interface EvictionInputs extends ContextLimits {
  readonly request: string;
  readonly mayAsk: boolean;
  readonly thresholds: { readonly assistantSummaryChars: number; readonly userSummaryChars: number };
}

/** By how much a context exceeds its limits; 0 if it does not. */
export interface Excess {
  readonly tokens: number;
  readonly messages: number;
}

/**
 * Removes content while the context exceeds its limits, in this order: unreferenced search results; long assistant
 * messages become summaries; other search results; assistant messages; finally, the user is asked about user messages.
 * Within each, the most relevant that fit stay. Returns the excess that remains.
 */
export function evictToFit(
  all: readonly Rated[],
  free: readonly Rated[],
  inputs: EvictionInputs,
  decisions: RetentionDecisions,
): Excess {
  const search = free.filter(({ message }) => message.role === 'search');
  const assistant = free.filter(({ message }) => message.role === 'assistant');
  removeLeastRelevant(
    all,
    search.filter(({ factors }) => factors.reference === 0),
    inputs,
    decisions,
  );
  shorten(all, assistant, inputs, decisions);
  removeLeastRelevant(all, search, inputs, decisions);
  removeLeastRelevant(all, assistant, inputs, decisions);
  const over = excess(size(all, decisions), inputs);
  if (inputs.mayAsk && isOver(over))
    askAbout(
      free.filter(({ message }) => message.role === 'user'),
      over,
      inputs,
      decisions,
    );
  return over;
}

interface Size {
  tokens: number;
  messages: number;
}

/** The size of the context after the decisions; a summary that waits for consent does not count yet. */
function size(all: readonly Rated[], decisions: RetentionDecisions): Size {
  const left: Size = { tokens: 0, messages: 0 };
  for (const { message, tokens } of all) {
    const decision = decisions.get(message.id);
    left.tokens += decision === undefined ? tokens : tokensLeft(decision);
    if (decision === undefined || decision.summary !== null || message.role === 'user') left.messages += 1;
  }
  return left;
}

function excess({ tokens, messages }: Size, { tokensAllowed, maxMessages }: ContextLimits): Excess {
  return { tokens: Math.max(0, tokens - tokensAllowed), messages: Math.max(0, messages - maxMessages) };
}

const isOver = ({ tokens, messages }: Excess): boolean => tokens > 0 || messages > 0;

/**
 * Keeps the most relevant candidates that fit beside everything else, and removes the others, the least relevant first.
 */
function removeLeastRelevant(
  all: readonly Rated[],
  candidates: readonly Rated[],
  limits: ContextLimits,
  decisions: RetentionDecisions,
): void {
  const now = size(all, decisions);
  if (!isOver(excess(now, limits))) return;
  const removable = candidates.filter(({ message }) => decisions.get(message.id)?.summary !== null);
  const weigh = (one: Rated): number => weightOf(one, decisions);
  const capacity = {
    tokens: limits.tokensAllowed - now.tokens + removable.reduce((sum, one) => sum + weigh(one), 0),
    messages: limits.maxMessages - now.messages + removable.length,
  };
  const going: Rated[] = [];
  for (const one of removable.toSorted((a, b) => b.relevance - a.relevance)) {
    if (weigh(one) > capacity.tokens || capacity.messages < 1) going.push(one);
    else {
      capacity.tokens -= weigh(one);
      capacity.messages -= 1;
    }
  }
  for (const one of going.reverse()) {
    const reason = overWhich(now, limits);
    now.tokens -= weigh(one);
    now.messages -= 1;
    decideToRemove(decisions, one, reason);
  }
}

const weightOf = (one: Rated, decisions: RetentionDecisions): number => {
  const decision = decisions.get(one.message.id);
  return decision === undefined ? one.tokens : tokensLeft(decision);
};

/** Replaces long assistant messages with summaries, the least relevant first, until the context fits. */
function shorten(
  all: readonly Rated[],
  assistant: readonly Rated[],
  inputs: EvictionInputs,
  decisions: RetentionDecisions,
): void {
  const now = size(all, decisions);
  for (const one of assistant.toSorted((a, b) => a.relevance - b.relevance)) {
    if (now.tokens <= inputs.tokensAllowed) return;
    if (decisions.has(one.message.id)) continue;
    const { assistantSummaryChars } = inputs.thresholds;
    if (!decideToSummarize(decisions, one, assistantSummaryChars, inputs.request, overWhich(now, inputs))) continue;
    now.tokens += weightOf(one, decisions) - one.tokens;
  }
}

/** Asks the user about the least relevant user messages, as many as would make the context fit. */
function askAbout(users: readonly Rated[], over: Excess, inputs: EvictionInputs, decisions: RetentionDecisions): void {
  const { tokensAllowed, maxMessages } = inputs;
  const asked = { tokens: tokensAllowed + over.tokens, messages: maxMessages + over.messages };
  for (const one of users.toSorted((a, b) => a.relevance - b.relevance)) {
    if (!isOver(excess(asked, inputs))) return;
    const reason = overWhich(asked, inputs);
    const shorter =
      asked.messages <= maxMessages &&
      decideToSummarize(decisions, one, inputs.thresholds.userSummaryChars, inputs.request, reason);
    if (!shorter) decideToRemove(decisions, one, reason);
    const decision = decisions.get(one.message.id);
    asked.tokens -= one.tokens - (decision === undefined ? 0 : tokensOnceAgreed(decision));
    if (!shorter) asked.messages -= 1;
  }
}

function overWhich({ tokens, messages }: Size, { tokensAllowed, maxMessages }: ContextLimits): string {
  return tokens > tokensAllowed
    ? `${Math.ceil(tokens)} tokens exceed the limit of ${tokensAllowed}`
    : `${messages} messages exceed the limit of ${maxMessages}`;
}
