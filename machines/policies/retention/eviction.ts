import type { Rated } from '../relevance/rating.ts';
import { goes, isSummarized, type RetentionDecisions, tokensLeft, tokensOnceAgreed } from './decisions.ts';

export interface Eviction {
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

interface RoomInputs extends Eviction {
  readonly request: string;
  readonly mayAsk: boolean;
  readonly thresholds: { readonly assistantSummaryChars: number; readonly userSummaryChars: number };
}

/** How much a context is over its limits; all 0 where it is within them. */
export interface Excess {
  readonly tokens: number;
  readonly messages: number;
}

/**
 * While the context is over its limits, what is free to go gives way in this order [U10]: search results that nothing refers to,
 * summaries in place of long assistant messages, the other search results, assistant messages; last, the user is asked about user
 * messages. Within each, the most relevant that fit stay. Gives what is over even then.
 */
export function evictToFit(
  all: readonly Rated[],
  free: readonly Rated[],
  inputs: RoomInputs,
  fates: RetentionDecisions,
): Excess {
  const search = free.filter(({ message }) => message.role === 'search');
  const assistant = free.filter(({ message }) => message.role === 'assistant');
  giveWay(
    all,
    search.filter(({ factors }) => factors.reference === 0),
    inputs,
    fates,
  );
  shorten(all, assistant, inputs, fates);
  giveWay(all, search, inputs, fates);
  giveWay(all, assistant, inputs, fates);
  const over = excess(size(all, fates), inputs);
  if (inputs.mayAsk && isOver(over))
    askAbout(
      free.filter(({ message }) => message.role === 'user'),
      over,
      inputs,
      fates,
    );
  return over;
}

interface Size {
  tokens: number;
  messages: number;
}

/** What the context will weigh: a summary that waits for consent does not count yet. */
function size(all: readonly Rated[], fates: RetentionDecisions): Size {
  const left: Size = { tokens: 0, messages: 0 };
  for (const { message, tokens } of all) {
    const fate = fates.get(message.id);
    left.tokens += fate === undefined ? tokens : tokensLeft(fate);
    if (fate === undefined || fate.summary !== null || message.role === 'user') left.messages += 1;
  }
  return left;
}

function excess({ tokens, messages }: Size, { tokensAllowed, maxMessages }: Eviction): Excess {
  return { tokens: Math.max(0, tokens - tokensAllowed), messages: Math.max(0, messages - maxMessages) };
}

const isOver = ({ tokens, messages }: Excess): boolean => tokens > 0 || messages > 0;

/** Of the candidates, the most relevant that fit into what the rest leaves stay; the others go, the least relevant first. */
function giveWay(
  all: readonly Rated[],
  candidates: readonly Rated[],
  limits: Eviction,
  fates: RetentionDecisions,
): void {
  const now = size(all, fates);
  if (!isOver(excess(now, limits))) return;
  const there = candidates.filter(({ message }) => fates.get(message.id)?.summary !== null);
  const weigh = (one: Rated): number => weightOf(one, fates);
  const room = {
    tokens: limits.tokensAllowed - now.tokens + there.reduce((sum, one) => sum + weigh(one), 0),
    messages: limits.maxMessages - now.messages + there.length,
  };
  const going: Rated[] = [];
  for (const one of there.toSorted((a, b) => b.relevance - a.relevance)) {
    if (weigh(one) > room.tokens || room.messages < 1) going.push(one);
    else {
      room.tokens -= weigh(one);
      room.messages -= 1;
    }
  }
  for (const one of going.reverse()) {
    const reason = overWhich(now, limits);
    now.tokens -= weigh(one);
    now.messages -= 1;
    goes(fates, one, reason);
  }
}

const weightOf = (one: Rated, fates: RetentionDecisions): number => {
  const fate = fates.get(one.message.id);
  return fate === undefined ? one.tokens : tokensLeft(fate);
};

/** Long assistant messages become summaries, the least relevant first, until the context is within its limit. */
function shorten(
  all: readonly Rated[],
  assistant: readonly Rated[],
  inputs: RoomInputs,
  fates: RetentionDecisions,
): void {
  const now = size(all, fates);
  for (const one of assistant.toSorted((a, b) => a.relevance - b.relevance)) {
    if (now.tokens <= inputs.tokensAllowed) return;
    if (fates.has(one.message.id)) continue;
    const { assistantSummaryChars } = inputs.thresholds;
    if (!isSummarized(fates, one, assistantSummaryChars, inputs.request, overWhich(now, inputs))) continue;
    now.tokens += weightOf(one, fates) - one.tokens;
  }
}

/** The user is asked about the least relevant user messages, until their going would be enough. */
function askAbout(users: readonly Rated[], over: Excess, inputs: RoomInputs, fates: RetentionDecisions): void {
  const { tokensAllowed, maxMessages } = inputs;
  const asked = { tokens: tokensAllowed + over.tokens, messages: maxMessages + over.messages };
  for (const one of users.toSorted((a, b) => a.relevance - b.relevance)) {
    if (!isOver(excess(asked, inputs))) return;
    const reason = overWhich(asked, inputs);
    const shorter =
      asked.messages <= maxMessages &&
      isSummarized(fates, one, inputs.thresholds.userSummaryChars, inputs.request, reason);
    if (!shorter) goes(fates, one, reason);
    const fate = fates.get(one.message.id);
    asked.tokens -= one.tokens - (fate === undefined ? 0 : tokensOnceAgreed(fate));
    if (!shorter) asked.messages -= 1;
  }
}

function overWhich({ tokens, messages }: Size, { tokensAllowed, maxMessages }: Eviction): string {
  return tokens > tokensAllowed
    ? `${Math.ceil(tokens)} tokens are over the ${tokensAllowed} allowed`
    : `${messages} messages are over the ${maxMessages} allowed`;
}
