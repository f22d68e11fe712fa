import type { ContextOperation } from '../contracts/context.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { UnderstandingReply } from '../contracts/phase-io.ts';
import { roundDown } from '../text/clip.ts';
import { extractSummary } from '../text/summary.ts';
import { duplicateIds, isProtected, type OperationList, operationsOfStep } from './context.ts';
import { type Duplicate, nearDuplicates } from './near-duplicates.ts';
import { type Relevance, relevanceOf } from './relevance.ts';
import { estimateTokens, summaryTokens } from './usage.ts';

export interface RetentionInputs extends RatingInputs, ContextLimits {
  readonly step: number;
  /** Whether eviction may ask the user about messages. */
  readonly mayAsk: boolean;
}

export interface RetentionPlan {
  readonly operations: readonly ContextOperation[];
  /** The excess over the limits after everything is removed that needs no consent. */
  readonly excess: Excess;
}

/** The minimum difference between a message's importance and the model's rating for the importance to change. */
const MIN_SHIFT = 0.1;

/**
 * Plans what Understanding does with the context: first the rule of each role, then eviction while the context exceeds
 * its limits. Operations on user content are marked `requiresConsent`; the newest assistant messages, pinned and
 * critical messages, and those kept by the user are never affected. Linear except for sorting.
 */
export function planRetention(inputs: RetentionInputs): RetentionPlan {
  const rated = rate(inputs);
  const spared = newestAnswers(inputs.messages);
  const shared = duplicateIds(inputs.messages);
  const free = rated.filter(({ message }) => !spared.has(message) && !shared.has(message.id) && !isProtected(message));
  const decisions: RetentionDecisions = new Map();
  for (const one of free) applyRule(one, inputs, decisions);
  const excess = evictToFit(rated, free, inputs, decisions);
  const list = operationsOfStep(inputs.step);
  const mayBeLinked = new Set(
    free.filter(({ message }) => decisions.get(message.id)?.summary !== null).map(({ message }) => message.id),
  );
  for (const decision of decisions.values()) carryOut(decision, mayBeLinked, list);
  for (const one of free) if (decisions.get(one.message.id)?.summary !== null) prioritize(one, list);
  return { operations: list.all, excess };
}

/** The newest assistant messages of this run and of the conversation before it. */
function newestAnswers(messages: readonly Message[]): ReadonlySet<Message | undefined> {
  const ofRun = messages.findLast(({ role, phase }) => role === 'assistant' && phase !== null);
  const before = messages.findLast(({ role, phase }) => role === 'assistant' && phase === null);
  return new Set([ofRun, before]);
}

function carryOut(
  { one, reason, summary }: RetentionDecision,
  mayBeLinked: ReadonlySet<string>,
  list: OperationList,
): void {
  const { message, duplicate } = one;
  const metadata = { ...numbersOf(one), ...(message.role === 'user' && { requiresConsent: true }) };
  if (summary !== null) {
    list.push('TRANSFORM', message.id, { transformation: 'summarize', ...summary }, reason, metadata);
    return;
  }
  list.push('PRUNE', message.id, {}, reason, metadata);
  if (duplicate === null || !mayBeLinked.has(duplicate.of)) return;
  const data = { to: message.id, relation: 'says the same as', strength: duplicate.similarity };
  const why = `it replaces ${message.id} (${roundDown(duplicate.similarity)} of the words in common)`;
  list.push('LINK', duplicate.of, data, why, { similarity: duplicate.similarity });
}

/** Sets the importance of a message to the model's rating, and tags it if the rating raises it. */
function prioritize({ message, relevance, rating }: Rated, list: OperationList): void {
  if (message.role === 'user' || rating === null || Math.abs(rating - message.importance) < MIN_SHIFT) return;
  const numbers = { rating, importance: message.importance, relevance };
  const reason = `rated ${roundDown(rating)} by the model`;
  list.push('PRIORITIZE', message.id, { importance: rating }, reason, numbers);
  if (rating > message.importance && !message.tags.includes('relevant'))
    list.push('TAG', message.id, { tags: ['relevant'] }, reason, numbers);
}

interface RuleInputs {
  readonly request: string;
  readonly cycle: number;
  readonly thresholds: Thresholds;
}

type Rule = (one: Rated, inputs: RuleInputs, decisions: RetentionDecisions) => void;

/** Applies the rule of a message's role; unknown roles have none. */
function applyRule(one: Rated, inputs: RuleInputs, decisions: RetentionDecisions): void {
  const { role } = one.message;
  if (Object.hasOwn(RULES, role)) RULES[role](one, inputs, decisions);
}

/** The rules by role, independent of the context's size. */
const RULES: Record<Message['role'], Rule> = {
  /** User messages stay; for a long one, the user is asked whether a summary suffices. */
  user: (one, { request, thresholds: { userMessageChars, userSummaryChars } }, decisions) => {
    const { length } = one.message.content;
    if (length <= userMessageChars) return;
    const reason = `the user message has ${length} characters, more than ${userMessageChars}`;
    decideToSummarize(decisions, one, userSummaryChars, request, reason);
  },

  /**
   * Messages of phases are pruned if irrelevant and summarized if of little relevance. Turns of the conversation are only evicted:
   * the user may ask about them in other words.
   */
  assistant: (one, { request, thresholds: { prune, summarise, assistantSummaryChars } }, decisions) => {
    if (one.message.phase === null) return;
    if (one.relevance < prune) decideToRemove(decisions, one, below(one, prune));
    else if (one.relevance < summarise)
      decideToSummarize(decisions, one, assistantSummaryChars, request, below(one, summarise));
  },

  /** Of duplicates, one stays. In a later cycle, unreferenced or irrelevant results are removed. */
  search: (one, { cycle, thresholds: { prune } }, decisions) => {
    const { message, duplicate, factors, relevance } = one;
    const later = message.cycle < cycle;
    if (duplicate !== null)
      decideToRemove(
        decisions,
        one,
        `duplicate of ${duplicate.of} (${roundDown(duplicate.similarity)} of the words in common)`,
      );
    else if (later && factors.reference === 0)
      decideToRemove(decisions, one, `not referenced since cycle ${message.cycle}`);
    else if (later && relevance < prune) decideToRemove(decisions, one, below(one, prune));
  },
};

const below = ({ relevance }: Rated, threshold: number): string =>
  `relevance ${roundDown(relevance)} is below ${threshold}`;

/** A message with its relevance. */
export interface Rated {
  readonly message: Message;
  readonly tokens: number;
  /** The policy's score; if the model rated the message, the mean of both. */
  readonly relevance: number;
  readonly factors: Relevance;
  readonly rating: number | null;
  /** The search result with the same content, if any. */
  readonly duplicate: Duplicate | null;
}

export interface RatingInputs {
  readonly messages: readonly Message[];
  /** Tokens of each message, in order. */
  readonly tokens: readonly number[];
  /** How similar each message is to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
  readonly request: string;
  readonly cycle: number;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
}

/** Rates every message of the context. Linear; each message is read once. */
export function rate(given: RatingInputs): readonly Rated[] {
  const { messages, tokens, request, cycle, similarity, thresholds } = given;
  const byModel = new Map(
    given.assessments.flatMap(({ messageId, relevance }) =>
      Number.isFinite(relevance) ? [[messageId, Math.min(1, Math.max(0, relevance))] as const] : [],
    ),
  );
  const relevances = relevanceOf(messages, { request, cycle, similarity, halfLifeCycles: thresholds.halfLifeCycles });
  const duplicates = nearDuplicates(inKeepingOrder(messages, relevances));
  return messages.map((message, at): Rated => {
    const factors = relevances[at] as Relevance;
    const rating = byModel.get(message.id) ?? null;
    const relevance = rating === null ? factors.score : (factors.score + rating) / 2;
    const duplicate = duplicates.get(message.id) ?? null;
    return { message, tokens: countOf(tokens[at], message), relevance, factors, rating, duplicate };
  });
}

/**
 * Search results in the order in which duplicates are kept: protected ones, referenced ones, then the newest, then the
 * first.
 */
function inKeepingOrder(messages: readonly Message[], relevances: readonly Relevance[]): readonly Message[] {
  const ranks: Message[][] = [[], [], []];
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'search') continue;
    const isReferenced = relevances[at]?.reference === 1;
    ranks[isProtected(message) ? 0 : isReferenced ? 1 : 2]?.push(message);
  }
  ranks[2]?.sort((one, other) => other.cycle - one.cycle);
  return ranks.flat();
}

/** The token count; an invalid one is estimated. */
function countOf(tokens: number | undefined, { content }: Message): number {
  return tokens !== undefined && tokens >= 0 && Number.isFinite(tokens) ? tokens : estimateTokens(content);
}

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

/** What to do with a message that does not simply stay. User content waits for consent. */
export interface RetentionDecision {
  readonly one: Rated;
  readonly reason: string;
  /** The summary that replaces the message; null removes it. */
  readonly summary: { readonly content: string; readonly maxChars: number } | null;
}

/** By message id, in the order of the decisions; the last decision about a message counts. */
export type RetentionDecisions = Map<string, RetentionDecision>;

export function decideToRemove(decisions: RetentionDecisions, one: Rated, reason: string): void {
  decisions.delete(one.message.id);
  decisions.set(one.message.id, { one, reason, summary: null });
}

/** Replaces the message with a summary if that is shorter; returns whether it is. */
export function decideToSummarize(
  decisions: RetentionDecisions,
  one: Rated,
  maxChars: number,
  topic: string,
  reason: string,
): boolean {
  const { id, content } = one.message;
  const summary = content.length > maxChars ? extractOf(one.message, maxChars, topic) : '';
  if (summary === '') return false;
  decisions.delete(id);
  decisions.set(id, { one, reason, summary: { content: summary, maxChars } });
  return true;
}

/** Messages are immutable, so the extract for a topic is made once. */
const extracts = new WeakMap<Message, { readonly key: string; readonly extract: string }>();

function extractOf(message: Message, maxChars: number, topic: string): string {
  const key = `${maxChars} ${topic}`;
  const made = extracts.get(message);
  if (made?.key === key) return made.extract;
  const extract = extractSummary(message.content, maxChars, topic);
  extracts.set(message, { key, extract });
  return extract;
}

/** Tokens that a message keeps; user content keeps all until the user agrees. */
export function tokensLeft(decision: RetentionDecision): number {
  return decision.one.message.role === 'user' ? decision.one.tokens : tokensOnceAgreed(decision);
}

/** Tokens that a message keeps after any consent that it needs. */
export function tokensOnceAgreed({ one: { message, tokens }, summary }: RetentionDecision): number {
  return summary === null ? 0 : summaryTokens(tokens, message.content, summary.content);
}

/** The numbers to record with an operation: every factor of the message's relevance. */
export function numbersOf({ message, tokens, relevance, rating, factors }: Rated): ContextOperation['metadata'] {
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
