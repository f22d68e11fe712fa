import type { ContextOperation, ReasonCode } from '../contracts/context.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { UnderstandingReply } from '../contracts/phase-io.ts';
import { roundDown } from '../text/clip.ts';
import { extractSummary } from '../text/summary.ts';
import { duplicateIds, isProtected, type OperationList, operationsOfStep } from './context.ts';
import { type Duplicate, nearDuplicates } from './near-duplicates.ts';
import { type Relevance, relevanceOf } from './relevance.ts';
import { estimateTokens, summaryTokens } from './usage.ts';

export interface RetentionInputs {
  readonly messages: readonly Message[];
  /** Tokens of each message, in order. */
  readonly tokens: readonly number[];
  /** How similar each message is to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
  readonly request: string;
  readonly cycle: number;
  readonly step: number;
  /** Whether eviction may ask the user about messages. */
  readonly mayAsk: boolean;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

export interface RetentionPlan {
  readonly operations: readonly ContextOperation[];
  /** The excess over the limits after everything is removed that needs no consent; 0 if there is none. */
  readonly excess: Size;
}

interface Size {
  readonly tokens: number;
  readonly messages: number;
}

/** A message with its relevance. */
interface Rated {
  readonly message: Message;
  readonly tokens: number;
  /** The policy's score; if the model rated the message, the mean of both. */
  readonly relevance: number;
  readonly factors: Relevance;
  readonly rating: number | null;
  /** The search result with the same content, if any. */
  readonly duplicate: Duplicate | null;
}

/** What happens to a message that does not simply stay. User content waits for consent. */
interface RetentionDecision {
  readonly rated: Rated;
  readonly code: ReasonCode;
  readonly reason: string;
  /** The summary that replaces the message; null removes it. */
  readonly summary: { readonly content: string; readonly maxChars: number } | null;
}

/** A plan in progress. */
interface Draft {
  readonly inputs: RetentionInputs;
  readonly all: readonly Rated[];
  /** By message id, in the order of the decisions; a new decision about a message replaces the previous one. */
  readonly decisions: Map<string, RetentionDecision>;
}

/**
 * Plans what Understanding does with the context: first the rule of each role, then eviction while the context exceeds
 * its limits. Operations on user content are marked `requiresConsent`; the newest assistant messages, pinned and
 * critical messages, and those kept by the user are never affected. Linear except for sorting.
 */
export function planRetention(inputs: RetentionInputs): RetentionPlan {
  const all = rate(inputs);
  const newest = newestAnswers(inputs.messages);
  const ambiguous = duplicateIds(inputs.messages);
  const free = all.filter(({ message }) => !newest.has(message) && !ambiguous.has(message.id) && !isProtected(message));
  const draft: Draft = { inputs, all, decisions: new Map() };
  for (const rated of free) {
    const { role } = rated.message;
    // A bare machine's input is not validated, so the role may be unknown.
    if (Object.hasOwn(RULES, role)) RULES[role](draft, rated);
  }
  const excess = evictToFit(draft, free);
  const list = operationsOfStep(inputs.step);
  const remaining = free.filter((rated) => !isRemoved(draft, rated));
  const linkable = new Set(remaining.map(({ message }) => message.id));
  for (const decision of draft.decisions.values()) pushDecision(decision, linkable, list);
  for (const rated of remaining) pushPriority(rated, list);
  return { operations: list.all, excess };
}

/** Returns the newest assistant messages of this run and of the conversation before it. */
function newestAnswers(messages: readonly Message[]): ReadonlySet<Message | undefined> {
  const ofRun = messages.findLast(({ role, phase }) => role === 'assistant' && phase !== null);
  const before = messages.findLast(({ role, phase }) => role === 'assistant' && phase === null);
  return new Set([ofRun, before]);
}

/** Appends the operations of a decision. A duplicate is linked from the message that it duplicates, if that stays. */
function pushDecision(
  { rated, code, reason, summary }: RetentionDecision,
  linkable: ReadonlySet<string>,
  list: OperationList,
): void {
  const { message, duplicate } = rated;
  const metadata = { ...metadataOf(rated), ...(message.role === 'user' && { requiresConsent: true }) };
  if (summary !== null) {
    const data = { transformation: 'summarize', ...summary, originalChars: message.content.length } as const;
    list.push('TRANSFORM', message.id, data, code, reason, metadata);
    return;
  }
  list.push('PRUNE', message.id, {}, code, reason, metadata);
  if (duplicate === null || !linkable.has(duplicate.of)) return;
  const { of: original, similarity } = duplicate;
  const data = { to: message.id, relation: 'says the same as', strength: similarity };
  const why = `it replaces ${message.id} (${roundDown(similarity)} of the words in common)`;
  list.push('LINK', original, data, 'near_duplicate', why, { similarity });
}

/** The minimum difference between a message's importance and the model's rating for the importance to change. */
const MIN_SHIFT = 0.1;

/** Sets the importance of a message to the model's rating, and tags it if the rating raises it. */
function pushPriority({ message, relevance, rating }: Rated, list: OperationList): void {
  if (message.role === 'user' || rating === null || Math.abs(rating - message.importance) < MIN_SHIFT) return;
  const metadata = { rating, importance: message.importance, relevance };
  const reason = `rated ${roundDown(rating)} by the model`;
  list.push('PRIORITIZE', message.id, { importance: rating }, 'rated_by_model', reason, metadata);
  if (rating > message.importance && !message.tags.includes('relevant'))
    list.push('TAG', message.id, { tags: ['relevant'] }, 'rated_by_model', reason, metadata);
}

/** Returns the numbers to record with an operation: every factor of the message's relevance. */
function metadataOf({ message, tokens, relevance, rating, factors }: Rated): ContextOperation['metadata'] {
  const { match, names, neighbors, speaker, recency, reference, importance, links, similarity } = factors;
  return {
    role: message.role,
    tokens,
    relevance,
    match: roundDown(match),
    names: roundDown(names),
    neighbours: roundDown(neighbors),
    speaker,
    recency: roundDown(recency),
    reference,
    importance: roundDown(importance),
    links,
    ...(similarity !== null && { similarity: roundDown(similarity) }),
    ...(rating !== null && { rating: roundDown(rating) }),
  };
}

/** Rates every message of the context. Linear; each message is read once. */
function rate(inputs: RetentionInputs): readonly Rated[] {
  const { messages, tokens, request, cycle, similarity, thresholds, assessments } = inputs;
  const ratings = new Map(
    assessments.flatMap(({ messageId, relevance }) =>
      Number.isFinite(relevance) ? [[messageId, Math.min(1, Math.max(0, relevance))] as const] : [],
    ),
  );
  const relevances = relevanceOf(messages, { request, cycle, similarity, halfLifeCycles: thresholds.halfLifeCycles });
  const duplicates = nearDuplicates(searchResultsByPrecedence(messages, relevances));
  return messages.map((message, at): Rated => {
    const factors = relevances[at] as Relevance;
    const rating = ratings.get(message.id) ?? null;
    const relevance = rating === null ? factors.score : (factors.score + rating) / 2;
    const duplicate = duplicates.get(message.id) ?? null;
    return { message, tokens: validTokens(tokens[at], message), relevance, factors, rating, duplicate };
  });
}

/** Search results, those to keep of several duplicates first: protected, referenced, then the newest. */
function searchResultsByPrecedence(messages: readonly Message[], relevances: readonly Relevance[]): readonly Message[] {
  const ranks: Message[][] = [[], [], []];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'search') continue;
    const isReferenced = relevances[at]?.reference === 1;
    ranks[isProtected(message) ? 0 : isReferenced ? 1 : 2]?.push(message);
  }
  ranks[2]?.sort((one, other) => other.cycle - one.cycle);
  return ranks.flat();
}

/** Returns the token count; an invalid one is estimated. */
function validTokens(tokens: number | undefined, { content }: Message): number {
  return tokens !== undefined && tokens >= 0 && Number.isFinite(tokens) ? tokens : estimateTokens(content);
}

function remove({ decisions }: Draft, rated: Rated, code: ReasonCode, reason: string): void {
  decisions.delete(rated.message.id);
  decisions.set(rated.message.id, { rated, code, reason, summary: null });
}

/** Replaces the message with a summary if that is shorter; returns whether it is. */
function summarize(
  { inputs, decisions }: Draft,
  rated: Rated,
  maxChars: number,
  code: ReasonCode,
  reason: string,
): boolean {
  const { id, content } = rated.message;
  const summary = content.length > maxChars ? extractOf(rated.message, maxChars, inputs.request) : '';
  if (summary === '') return false;
  decisions.delete(id);
  decisions.set(id, { rated, code, reason, summary: { content: summary, maxChars } });
  return true;
}

/** Messages are immutable, so the extract for a topic is made once. */
const extracts = new WeakMap<Message, { readonly key: string; readonly extract: string }>();

function extractOf(message: Message, maxChars: number, topic: string): string {
  const key = `${maxChars} ${topic}`;
  const known = extracts.get(message);
  if (known?.key === key) return known.extract;
  const extract = extractSummary(message.content, maxChars, topic);
  extracts.set(message, { key, extract });
  return extract;
}

function isRemoved({ decisions }: Draft, { message }: Rated): boolean {
  return decisions.get(message.id)?.summary === null;
}

/** Returns the tokens of a message after the decisions; user content keeps all until the user agrees. */
function keptTokens(draft: Draft, rated: Rated): number {
  return rated.message.role === 'user' ? rated.tokens : tokensOnceAgreed(draft, rated);
}

/** Returns the tokens of a message after the decisions and any consent that they need. */
function tokensOnceAgreed({ decisions }: Draft, { message, tokens }: Rated): number {
  const decision = decisions.get(message.id);
  if (decision === undefined) return tokens;
  return decision.summary === null ? 0 : summaryTokens(tokens, message.content, decision.summary.content);
}

/** The rules by role, independent of the context's size. */
const RULES: Record<Message['role'], (draft: Draft, rated: Rated) => void> = {
  /** User messages stay; for a long one, the user is asked whether a summary suffices. */
  user: (draft, rated) => {
    const { userMessageChars, userSummaryChars } = draft.inputs.thresholds;
    const { length } = rated.message.content;
    if (length <= userMessageChars) return;
    const reason = `the user message has ${length} characters, more than ${userMessageChars}`;
    summarize(draft, rated, userSummaryChars, 'long_message', reason);
  },

  /**
   * Messages of phases are pruned if irrelevant and summarized if of little relevance. Turns of the conversation are
   * only evicted: the user may ask about them in other words.
   */
  assistant: (draft, rated) => {
    const { prune, summarize: shorten, assistantSummaryChars } = draft.inputs.thresholds;
    if (rated.message.phase === null) return;
    if (rated.relevance < prune) remove(draft, rated, 'low_relevance', below(rated, prune));
    else if (rated.relevance < shorten)
      summarize(draft, rated, assistantSummaryChars, 'low_relevance', below(rated, shorten));
  },

  /** Keeps one of several duplicates. In a later cycle, unreferenced or irrelevant results are removed. */
  search: (draft, rated) => {
    const { message, duplicate, factors, relevance } = rated;
    const { cycle, thresholds } = draft.inputs;
    const isLater = message.cycle < cycle;
    if (duplicate !== null) {
      const { of: original, similarity } = duplicate;
      remove(
        draft,
        rated,
        'near_duplicate',
        `duplicate of ${original} (${roundDown(similarity)} of the words in common)`,
      );
    } else if (isLater && factors.reference === 0)
      remove(draft, rated, 'not_referenced', `not referenced since cycle ${message.cycle}`);
    else if (isLater && relevance < thresholds.prune)
      remove(draft, rated, 'low_relevance', below(rated, thresholds.prune));
  },
};

const below = ({ relevance }: Rated, threshold: number): string =>
  `relevance ${roundDown(relevance)} is below ${threshold}`;

/**
 * Removes content while the context exceeds its limits, in this order: unreferenced search results; long assistant
 * messages become summaries; other search results; assistant messages; finally, the user is asked about user messages.
 * Within each, the most relevant that fit stay. Returns the excess that remains.
 */
function evictToFit(draft: Draft, free: readonly Rated[]): Size {
  const withRole = (role: Message['role']) => free.filter(({ message }) => message.role === role);
  const search = withRole('search');
  const assistant = withRole('assistant');
  removeLeastRelevant(
    draft,
    search.filter(({ factors }) => factors.reference === 0),
  );
  summarizeUntilFit(draft, assistant);
  removeLeastRelevant(draft, search);
  removeLeastRelevant(draft, assistant);
  const excess = excessOf(sizeOf(draft), draft.inputs);
  if (draft.inputs.mayAsk && isOver(excess)) askAbout(draft, withRole('user'), excess);
  return excess;
}

/** Returns the size of the context after the decisions; a summary that waits for consent does not count yet. */
function sizeOf(draft: Draft): Size {
  return {
    tokens: draft.all.reduce((sum, rated) => sum + keptTokens(draft, rated), 0),
    messages: draft.all.filter((rated) => rated.message.role === 'user' || !isRemoved(draft, rated)).length,
  };
}

function excessOf({ tokens, messages }: Size, { tokensAllowed, maxMessages }: RetentionInputs): Size {
  return { tokens: Math.max(0, tokens - tokensAllowed), messages: Math.max(0, messages - maxMessages) };
}

const isOver = ({ tokens, messages }: Size): boolean => tokens > 0 || messages > 0;

/**
 * Keeps the most relevant candidates that fit beside everything else, and removes the others, the least relevant first.
 */
function removeLeastRelevant(draft: Draft, candidates: readonly Rated[]): void {
  const { inputs } = draft;
  let { tokens, messages } = sizeOf(draft);
  if (!isOver(excessOf({ tokens, messages }, inputs))) return;
  const removable = candidates.filter((rated) => !isRemoved(draft, rated));
  let freeTokens = inputs.tokensAllowed - tokens + removable.reduce((sum, rated) => sum + keptTokens(draft, rated), 0);
  let freeMessages = inputs.maxMessages - messages + removable.length;
  const unfit: Rated[] = [];
  for (const rated of removable.toSorted((a, b) => b.relevance - a.relevance)) {
    if (keptTokens(draft, rated) > freeTokens || freeMessages < 1) unfit.push(rated);
    else {
      freeTokens -= keptTokens(draft, rated);
      freeMessages -= 1;
    }
  }
  for (const rated of unfit.reverse()) {
    const reason = overWhich({ tokens, messages }, inputs);
    tokens -= keptTokens(draft, rated);
    messages -= 1;
    remove(draft, rated, 'over_limit', reason);
  }
}

/** Replaces long assistant messages with summaries, the least relevant first, until the context fits. */
function summarizeUntilFit(draft: Draft, assistant: readonly Rated[]): void {
  const { inputs, decisions } = draft;
  const { messages, ...size } = sizeOf(draft);
  let { tokens } = size;
  for (const rated of assistant.toSorted((a, b) => a.relevance - b.relevance)) {
    if (tokens <= inputs.tokensAllowed) return;
    if (decisions.has(rated.message.id)) continue;
    const reason = overWhich({ tokens, messages }, inputs);
    if (summarize(draft, rated, inputs.thresholds.assistantSummaryChars, 'over_limit', reason))
      tokens += keptTokens(draft, rated) - rated.tokens;
  }
}

/** Asks the user about the least relevant user messages, as many as would make the context fit. */
function askAbout(draft: Draft, users: readonly Rated[], excess: Size): void {
  const { inputs } = draft;
  const { tokensAllowed, maxMessages, thresholds } = inputs;
  let size: Size = { tokens: tokensAllowed + excess.tokens, messages: maxMessages + excess.messages };
  for (const rated of users.toSorted((a, b) => a.relevance - b.relevance)) {
    if (!isOver(excessOf(size, inputs))) return;
    const reason = overWhich(size, inputs);
    const isShortened =
      size.messages <= maxMessages && summarize(draft, rated, thresholds.userSummaryChars, 'over_limit', reason);
    if (!isShortened) remove(draft, rated, 'over_limit', reason);
    const tokens = size.tokens - rated.tokens + tokensOnceAgreed(draft, rated);
    size = { tokens, messages: size.messages - (isShortened ? 0 : 1) };
  }
}

function overWhich({ tokens, messages }: Size, { tokensAllowed, maxMessages }: RetentionInputs): string {
  return tokens > tokensAllowed
    ? `${Math.ceil(tokens)} tokens exceed the limit of ${tokensAllowed}`
    : `${messages} messages exceed the limit of ${maxMessages}`;
}
