import type { ContextOperation, ReasonCode } from '../contracts/context.ts';
import type { Thresholds } from '../contracts/limits.ts';
import type { Message } from '../contracts/message.ts';
import type { UnderstandingReply } from '../contracts/phase-io.ts';
import { roundDown } from '../text/clip.ts';
import { extractSummary } from '../text/summary.ts';
import { fixedMessages, isProtected, type OperationList, operationsOfStep } from './context.ts';
import {
  type Duplicate,
  nearDuplicates,
  phaseNumber,
  type Relevance,
  relevanceOf,
  type Use,
  usesOf,
} from './relevance.ts';
import { estimateTokens, summaryTokens } from './usage.ts';

export interface RetentionInputs {
  readonly messages: readonly Message[];
  /** Tokens of each message, in order. */
  readonly tokens: readonly number[];
  /** Tokens that a prompt adds to each message, in order; none by default. */
  readonly added?: readonly number[] | undefined;
  /** How similar each message is to the request, 0..1, in order; null without embeddings. */
  readonly similarity: readonly number[] | null;
  readonly request: string;
  readonly cycle: number;
  /** The time of the evaluation, in milliseconds since the epoch. */
  readonly nowMs: number;
  readonly step: number;
  /** Whether eviction may ask the user about messages. If so, the plan assumes that they agree. */
  readonly mayAsk: boolean;
  readonly assessments: UnderstandingReply['assessments'];
  readonly thresholds: Thresholds;
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

export interface RetentionPlan {
  readonly operations: readonly ContextOperation[];
  /** By how many tokens the messages that need consent, or must stay, exceed the limit; 0 if they do not. */
  readonly tokensOver: number;
}

interface Size {
  readonly tokens: number;
  readonly messages: number;
}

interface Rated {
  readonly message: Message;
  /** Tokens of the content, and those that a prompt adds to it. */
  readonly tokens: number;
  readonly added: number;
  /** The policy's score and the model's rating, if any: a higher rating counts in full, a lower one by half. */
  readonly relevance: number;
  readonly factors: Relevance;
  readonly rating: number | null;
  readonly use: Use | undefined;
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

interface Draft {
  readonly inputs: RetentionInputs;
  /** Whether relevance alone, without a rating, prunes and summarizes. */
  readonly isEager: boolean;
  /** By message id, in the order of the decisions. */
  readonly decisions: Map<string, RetentionDecision>;
}

/**
 * Plans what Understanding does with the context: first the rule of each role, then eviction if the context exceeds its
 * limits. Operations on user content are marked `requiresConsent`; the newest assistant messages, pinned and critical
 * messages, and those kept by the user are never affected. Linear except for sorting.
 */
export function planRetention(inputs: RetentionInputs): RetentionPlan {
  const all = rate(inputs);
  const fixed = fixedMessages(inputs.messages);
  const free = all.filter(({ message }) => !fixed.has(message));
  const draft: Draft = {
    inputs,
    isEager: filledShare(all, free, inputs) > inputs.thresholds.pruneAbove,
    decisions: new Map(),
  };
  for (const rated of free) {
    const { role } = rated.message;
    // A bare machine's input is not validated, so the role may be unknown.
    if (Object.hasOwn(RULES, role)) RULES[role](draft, rated);
  }
  keepSources(draft, all);
  const tokensOver = evictToFit(draft, all, free);
  const list = operationsOfStep(inputs.step);
  const remaining = free.filter((rated) => !isRemoved(draft, rated));
  const linkable = new Set(remaining.map(({ message }) => message.id));
  for (const decision of draft.decisions.values()) pushDecision(decision, linkable, list);
  for (const rated of remaining) pushPriority(rated, list);
  return { operations: list.all, tokensOver };
}

/** Keeps a search result that a remaining message refers to, even if its relevance is low, unless the model rated it. */
function keepSources(draft: Draft, all: readonly Rated[]): void {
  const staying = all.filter((rated) => !isRemoved(draft, rated));
  const cited = new Set(staying.flatMap(({ message }) => message.references));
  for (const [id, { rated, code, summary }] of draft.decisions)
    if (
      summary === null &&
      code === 'low_relevance' &&
      rated.rating === null &&
      rated.message.role === 'search' &&
      cited.has(id)
    )
      draft.decisions.delete(id);
}

function filledShare(
  all: readonly Rated[],
  free: readonly Rated[],
  { tokensAllowed, maxMessages }: RetentionInputs,
): number {
  const tokens = all.reduce((sum, rated) => sum + rated.tokens + rated.added, 0);
  const removable = free.filter(({ message }) => message.role !== 'user').length;
  return Math.min(1, Math.max(tokens / tokensAllowed, removable / maxMessages));
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
  const isReplaced = duplicate !== null && linkable.has(duplicate.of);
  list.push('PRUNE', message.id, {}, code, reason, {
    ...metadata,
    ...(isReplaced && { replacedBy: duplicate.of }),
  });
  if (!isReplaced) return;
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

function metadataOf({ message, tokens, relevance, rating, factors }: Rated): ContextOperation['metadata'] {
  const { score: _, similarity, ...others } = factors;
  const rounded = Object.entries(others).map(([name, value]) => [name, roundDown(value)] as const);
  return {
    role: message.role,
    tokens,
    relevance,
    ...Object.fromEntries(rounded),
    ...(similarity !== null && { similarity: roundDown(similarity) }),
    ...(rating !== null && { rating: roundDown(rating) }),
  };
}

/** Rates every message of the context. Linear; each message is read once. */
function rate(inputs: RetentionInputs): readonly Rated[] {
  const { messages, tokens, added, thresholds, assessments } = inputs;
  const { halfLifeCycles, halfLifeMs } = thresholds;
  const ratings = new Map(
    assessments.flatMap(({ messageId, relevance }) =>
      Number.isFinite(relevance) ? [[messageId, Math.min(1, Math.max(0, relevance))] as const] : [],
    ),
  );
  const clock = { ...inputs, halfLifeCycles, halfLifeMs };
  const uses = usesOf(messages, clock);
  const relevances = relevanceOf(messages, clock, uses);
  const duplicates = nearDuplicates(searchResultsByPrecedence(messages, uses));
  return messages.map((message, at): Rated => {
    const { id } = message;
    const factors = relevances[at] as Relevance;
    const rating = ratings.get(id) ?? null;
    const relevance = rating === null ? factors.score : Math.max(rating, (factors.score + rating) / 2);
    const duplicate = duplicates.get(id) ?? null;
    return {
      message,
      tokens: validTokens(tokens[at], message),
      added: added?.[at] ?? 0,
      relevance,
      factors,
      rating,
      use: uses.get(id),
      duplicate,
    };
  });
}

/** Search results, those to keep of several duplicates first: protected, referenced, then the newest. */
function searchResultsByPrecedence(messages: readonly Message[], uses: ReadonlyMap<string, Use>): readonly Message[] {
  const ranks: Message[][] = [[], [], []];
  for (const message of messages)
    if (message.role === 'search') ranks[isProtected(message) ? 0 : uses.has(message.id) ? 1 : 2]?.push(message);
  ranks[2]?.sort((one, other) => other.cycle - one.cycle);
  return ranks.flat();
}

function validTokens(tokens: number | undefined, { content }: Message): number {
  return tokens !== undefined && tokens >= 0 && Number.isFinite(tokens) ? tokens : estimateTokens(content);
}

function remove({ decisions }: Draft, rated: Rated, code: ReasonCode, reason: string): void {
  decisions.delete(rated.message.id);
  decisions.set(rated.message.id, { rated, code, reason, summary: null });
}

/** Replaces the message with a summary if that is shorter; returns whether it is. */
function summarize(draft: Draft, rated: Rated, maxChars: number, code: ReasonCode, reason: string): boolean {
  const { id, content } = rated.message;
  const summary = content.length > maxChars ? extractOf(rated.message, maxChars, draft.inputs.request) : '';
  if (summary === '') return false;
  draft.decisions.set(id, { rated, code, reason, summary: { content: summary, maxChars } });
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

/** Returns the tokens of a message after the decisions, with any consent that they need. */
function tokensLeft({ decisions }: Draft, { message, tokens, added }: Rated): number {
  const decision = decisions.get(message.id);
  if (decision === undefined) return tokens + added;
  return decision.summary === null ? 0 : added + summaryTokens(tokens, message.content, decision.summary.content);
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
   * Outputs of earlier cycles are removed if they are irrelevant. Eager pruning includes turns of the conversation, and
   * summarizes what is of little relevance.
   */
  assistant: (draft, rated) => {
    const { cycle, phase } = rated.message;
    const { isEager, inputs } = draft;
    const { prune, summarize: shorten, assistantSummaryChars } = inputs.thresholds;
    if (phase === null ? !isEager : cycle >= inputs.cycle) return;
    if (isIrrelevant(draft, rated)) remove(draft, rated, 'low_relevance', below(rated, prune));
    else if (isEager && rated.relevance < shorten)
      summarize(draft, rated, assistantSummaryChars, 'low_relevance', below(rated, shorten));
  },

  /** Keeps one of several duplicates. Results of earlier cycles are removed if they are unused or irrelevant. */
  search: (draft, rated) => {
    const { message, duplicate } = rated;
    const { cycle, thresholds } = draft.inputs;
    const { recentPhases, prune } = thresholds;
    if (duplicate !== null) {
      const { of: original, similarity } = duplicate;
      const reason = `duplicate of ${original} (${roundDown(similarity)} of the words in common)`;
      remove(draft, rated, 'near_duplicate', reason);
    } else if (message.cycle >= cycle) return;
    else if (isUnused(draft, rated))
      remove(draft, rated, 'not_referenced', `not referenced in the last ${recentPhases} phases`);
    else if (isIrrelevant(draft, rated)) remove(draft, rated, 'low_relevance', below(rated, prune));
  },
};

/** Whether the message is older than the recent phases, and nothing referred to it in them. */
function isUnused({ inputs: { cycle, thresholds } }: Draft, { message, use }: Rated): boolean {
  const lastUse = Math.max(phaseNumber(message), use?.lastPhase ?? 0);
  return phaseNumber({ cycle, phase: 'understanding' }) - lastUse > thresholds.recentPhases;
}

/** Text without a word of the request may be useful: unless pruning is eager, it takes a rating or disuse as well. */
function isIrrelevant(draft: Draft, rated: Rated): boolean {
  const isLow = rated.relevance < draft.inputs.thresholds.prune;
  return isLow && (draft.isEager || rated.rating !== null || isUnused(draft, rated));
}

const below = ({ relevance }: Rated, threshold: number): string =>
  `relevance ${roundDown(relevance)} is below ${threshold}`;

/** The share of the tokens for messages that may be removed. If the others leave less, the user is asked about some of theirs. */
const OTHERS_SHARE = 0.25;

/**
 * Makes the context fit its limits: the most relevant messages stay whole; what does not fit is removed, or summarized if
 * it is an assistant message and the summary fits. If user messages leave too few tokens, the user is asked about the
 * least relevant of them. Returns by how many tokens the messages that stay exceed the limit.
 */
function evictToFit(draft: Draft, all: readonly Rated[], free: readonly Rated[]): number {
  const { tokensAllowed, maxMessages, mayAsk } = draft.inputs;
  const evictable = new Set(free.filter((rated) => rated.message.role !== 'user'));
  const others = sizeOf(draft, [...evictable]);
  const fixed = sizeOf(
    draft,
    all.filter((rated) => !evictable.has(rated)),
  );
  const space = { tokens: tokensAllowed - fixed.tokens, messages: maxMessages };
  const tokensOver = Math.max(0, -space.tokens);
  if (fits(others, space)) return tokensOver;
  const reason =
    others.tokens > space.tokens
      ? `${Math.ceil(fixed.tokens + others.tokens)} tokens exceed the limit of ${tokensAllowed}`
      : `${others.messages} removable messages exceed the limit of ${maxMessages}`;
  const needed = Math.min(others.tokens, OTHERS_SHARE * tokensAllowed);
  const tokens = mayAsk ? askAbout(draft, free, space.tokens, needed, reason) : space.tokens;
  keepMostRelevant(draft, [...evictable], { ...space, tokens }, reason);
  return tokensOver;
}

/** Returns the size of the messages that are not removed; user messages have all of it until the user agrees. */
function sizeOf(draft: Draft, some: readonly Rated[]): Size {
  const left = some.filter((rated) => rated.message.role === 'user' || !isRemoved(draft, rated));
  const tokens = left.reduce(
    (sum, rated) => sum + (rated.message.role === 'user' ? rated.tokens + rated.added : tokensLeft(draft, rated)),
    0,
  );
  return { tokens, messages: left.length };
}

/** A bare machine's limit may not be a number: then everything fits. */
const fits = (size: Size, space: Size): boolean => !(size.tokens > space.tokens || size.messages > space.messages);

const byRelevance = (one: Rated, other: Rated): number => other.relevance - one.relevance;

/** Asks the user about their least relevant messages until enough tokens are free. Returns the free tokens if they agree. */
function askAbout(draft: Draft, free: readonly Rated[], space: number, needed: number, reason: string): number {
  const { userSummaryChars } = draft.inputs.thresholds;
  let tokens = space;
  const users = free.filter(({ message }) => message.role === 'user');
  for (const rated of users.toSorted(byRelevance).reverse()) {
    if (!(needed > tokens)) break;
    if (!summarize(draft, rated, userSummaryChars, 'over_limit', reason)) remove(draft, rated, 'over_limit', reason);
    tokens += rated.tokens + rated.added - tokensLeft(draft, rated);
  }
  return tokens;
}

/** Keeps the most relevant messages that fit into the space, whole or as a summary, and removes the others. */
function keepMostRelevant(draft: Draft, some: readonly Rated[], space: Size, reason: string): void {
  let { tokens, messages } = space;
  const unfit: Rated[] = [];
  for (const rated of some.filter((one) => !isRemoved(draft, one)).sort(byRelevance)) {
    if (messages < 1 || !(tokensLeft(draft, rated) <= tokens || shorten(draft, rated, tokens, reason)))
      unfit.push(rated);
    else {
      tokens -= tokensLeft(draft, rated);
      messages -= 1;
    }
  }
  for (const rated of unfit.reverse()) remove(draft, rated, 'over_limit', reason);
}

/** Summarizes an assistant message if the summary fits into so many tokens; returns whether it does. */
function shorten(draft: Draft, rated: Rated, tokens: number, reason: string): boolean {
  const { message } = rated;
  const { assistantSummaryChars } = draft.inputs.thresholds;
  const most = Math.ceil((rated.tokens * assistantSummaryChars) / Math.max(1, message.content.length));
  return (
    message.role === 'assistant' &&
    most + rated.added <= tokens &&
    summarize(draft, rated, assistantSummaryChars, 'over_limit', reason)
  );
}
