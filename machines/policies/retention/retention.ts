import type { ContextOperation } from '../../contracts/context.ts';
import type { Thresholds } from '../../contracts/limits.ts';
import type { Message } from '../../contracts/message.ts';
import { roundDown } from '../../text/clip.ts';
import { duplicateIds, isProtected, type OperationList, operationsOfStep } from '../context.ts';
import { type Rated, type RatingInputs, rate } from '../relevance/rating.ts';
import {
  decideToRemove,
  decideToSummarize,
  numbersOf,
  type RetentionDecision,
  type RetentionDecisions,
} from './decisions.ts';
import { type ContextLimits, type Excess, evictToFit } from './eviction.ts';

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
