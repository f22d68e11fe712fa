import type { ContextOperation } from '../../contracts/context-operation.ts';
import type { Message } from '../../contracts/message.ts';
import { sharedIds } from '../context.ts';
import { floored } from '../numbers.ts';
import { type OperationList, operationsOfStep } from '../operations.ts';
import { isProtected } from '../relevance/protection.ts';
import { type Rated, type Rating, rate } from '../relevance/rating.ts';
import { numbersOf, type RetentionDecision, type RetentionDecisions } from './decisions.ts';
import { type Eviction, type Excess, evictToFit } from './eviction.ts';
import { applyRule } from './rules.ts';

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
  const shared = sharedIds(inputs.messages);
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
