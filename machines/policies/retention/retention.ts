import type { ContextOperation } from '../../contracts/context.ts';
import type { Thresholds } from '../../contracts/limits.ts';
import type { Message } from '../../contracts/message.ts';
import { floored } from '../../text/clip.ts';
import { duplicateIds, isProtected, type OperationList, operationsOfStep } from '../context.ts';
import { type Rated, type Rating, rate } from '../relevance/rating.ts';
import { goes, isSummarized, numbersOf, type RetentionDecision, type RetentionDecisions } from './decisions.ts';
import { type Eviction, type Excess, evictToFit } from './eviction.ts';

export interface RetentionInputs extends Rating, Eviction {
  readonly step: number;
  /** Whether the user may be asked about messages for want of room. */
  readonly mayAsk: boolean;
}

export interface RetentionPlan {
  readonly operations: readonly ContextOperation[];
  /** What the context is over its limits even with everything gone that may go without asking. */
  readonly excess: Excess;
}

/** A message's importance follows what the model says of it when they differ by this much. */
const MIN_SHIFT = 0.1;

/**
 * What Understanding would do with the context [U3-U7, U10]: the rules of each role first, then, while it is over its limits, what
 * gives way. User content is only ever touched by an operation marked `requiresConsent`; the newest assistant messages, pinned and
 * critical ones, and what the user keeps, by none. Linear but for sorting.
 */
export function planRetention(inputs: RetentionInputs): RetentionPlan {
  const rated = rate(inputs);
  const spared = newestAnswers(inputs.messages);
  const shared = duplicateIds(inputs.messages);
  const free = rated.filter(({ message }) => !spared.has(message) && !shared.has(message.id) && !isProtected(message));
  const fates: RetentionDecisions = new Map();
  for (const one of free) applyRule(one, inputs, fates);
  const excess = evictToFit(rated, free, inputs, fates);
  const list = operationsOfStep(inputs.step);
  const mayBeLinked = new Set(
    free.filter(({ message }) => fates.get(message.id)?.summary !== null).map(({ message }) => message.id),
  );
  for (const fate of fates.values()) carryOut(fate, mayBeLinked, list);
  for (const one of free) if (fates.get(one.message.id)?.summary !== null) prioritise(one, list);
  return { operations: list.all, excess };
}

/** The newest assistant message of this run, and that of the conversation before it [U5]. */
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
  const why = `it stands for ${message.id} as well (${floored(duplicate.similarity)} of the words in common)`;
  list.push('LINK', duplicate.of, data, why, { similarity: duplicate.similarity });
}

/** What the model rated carries its rating on, and what it found relevant is tagged [U7]. */
function prioritise({ message, relevance, rating }: Rated, list: OperationList): void {
  if (message.role === 'user' || rating === null || Math.abs(rating - message.importance) < MIN_SHIFT) return;
  const numbers = { rating, importance: message.importance, relevance };
  const reason = `the model rates it ${floored(rating)}`;
  list.push('PRIORITIZE', message.id, { importance: rating }, reason, numbers);
  if (rating > message.importance && !message.tags.includes('relevant'))
    list.push('TAG', message.id, { tags: ['relevant'] }, reason, numbers);
}

interface RuleInputs {
  readonly request: string;
  readonly cycle: number;
  readonly thresholds: Thresholds;
}

type Rule = (one: Rated, inputs: RuleInputs, fates: RetentionDecisions) => void;

/** Applies the rule of a message's role; a role that is none has no rule. */
function applyRule(one: Rated, inputs: RuleInputs, fates: RetentionDecisions): void {
  const { role } = one.message;
  if (Object.hasOwn(RULES, role)) RULES[role](one, inputs, fates);
}

/** What a message's role says of it, however much room there is [U3]. */
const RULES: Record<Message['role'], Rule> = {
  /** Kept, but a long one asks whether a summary would do [U4]. */
  user: (one, { request, thresholds: { userMessageChars, userSummaryChars } }, fates) => {
    const { length } = one.message.content;
    if (length <= userMessageChars) return;
    const reason = `a user message of ${length} characters is longer than ${userMessageChars}`;
    isSummarized(fates, one, userSummaryChars, request, reason);
  },

  /**
   * What a phase made is pruned where it is irrelevant, and summarised where it is little relevant [U5]. A turn of the conversation
   * only gives way when room is needed: what it says may be asked about in other words.
   */
  assistant: (one, { request, thresholds: { prune, summarise, assistantSummaryChars } }, fates) => {
    if (one.message.phase === null) return;
    if (one.relevance < prune) goes(fates, one, below(one, prune));
    else if (one.relevance < summarise) isSummarized(fates, one, assistantSummaryChars, request, below(one, summarise));
  },

  /** One of those that say the same stays; in a later cycle, what nothing refers to or is irrelevant by now goes [U6]. */
  search: (one, { cycle, thresholds: { prune } }, fates) => {
    const { message, duplicate, factors, relevance } = one;
    const later = message.cycle < cycle;
    if (duplicate !== null)
      goes(fates, one, `it says the same as ${duplicate.of} (${floored(duplicate.similarity)} of the words in common)`);
    else if (later && factors.reference === 0)
      goes(fates, one, `nothing has referred to it since cycle ${message.cycle}`);
    else if (later && relevance < prune) goes(fates, one, below(one, prune));
  },
};

const below = ({ relevance }: Rated, threshold: number): string =>
  `relevance ${floored(relevance)} is below ${threshold}`;
