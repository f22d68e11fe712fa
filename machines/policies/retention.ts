import type { ContextOperation } from '../contracts/context-operation.ts';
import type { Message } from '../contracts/message.ts';
import type { Thresholds } from '../contracts/thresholds.ts';
import { floored } from './numbers.ts';
import { type OperationList, operationsOfStep } from './operations.ts';
import { type Rated, type Rating, rate } from './rating.ts';
import { makeRoom } from './retention-limits.ts';
import { summarise } from './summary.ts';

export interface RetentionInputs extends Rating {
  readonly step: number;
  readonly maxMessages: number;
  readonly tokensAllowed: number;
}

/** The user has answered for this message: it is kept, and not asked about again. */
export const KEPT_BY_USER = 'kept-by-user';
/** The request of this run is what everything else is held against: no rule touches it. */
export const REQUEST = 'request';
const UNTOUCHABLE: ReadonlySet<string> = new Set(['pinned', 'critical', REQUEST, KEPT_BY_USER]);

/** A message's importance follows what the model says of it when they differ by this much. */
const MIN_SHIFT = 0.1;

/**
 * What Understanding would do with the context [U3-U7, U10]: rules by role first, then, while the context is over its limit, the
 * least relevant search results and assistant messages give way. User content is only ever touched by an operation marked
 * `requiresConsent`; pinned and critical messages, and what the user keeps, by none. Linear but for one sort.
 */
export function retentionOperations(inputs: RetentionInputs): readonly ContextOperation[] {
  const rated = rate(inputs);
  const list = operationsOfStep(inputs.step);
  const newest = inputs.messages.findLast((message) => message.role === 'assistant')?.id;
  const free = rated.filter(({ message }) => message.id !== newest && !isUntouchable(message));
  for (const one of free) RULES[one.message.role](one, inputs, list);
  makeRoom(rated, free, inputs, list);
  return list.all;
}

const isUntouchable = ({ tags }: Message): boolean => tags.some((tag) => UNTOUCHABLE.has(tag));

type Rule = (one: Rated, inputs: RetentionInputs, list: OperationList) => void;

const RULES: Record<Message['role'], Rule> = {
  user: ({ message, relevance }, { thresholds }, list) => {
    const { length } = message.content;
    const content = summarise(message.content, thresholds.userSummaryChars);
    if (length <= thresholds.userMessageChars || content === '') return;
    const reason = `a user message of ${length} characters is longer than ${thresholds.userMessageChars}`;
    const data = { transformation: 'summarize' as const, content, maxChars: thresholds.userSummaryChars };
    list.push('TRANSFORM', message.id, data, reason, { relevance, role: 'user', requiresConsent: true });
  },

  assistant: (one, { thresholds }, list) => {
    const { message, relevance } = one;
    if (prunedAsIrrelevant(one, thresholds, list)) return;
    const content = summarise(message.content, thresholds.assistantSummaryChars);
    const long = message.content.length > thresholds.assistantSummaryChars && content !== '';
    if (relevance >= thresholds.summarise || !long) return prioritise(one, list);
    const reason = `relevance ${floored(relevance)} is below ${thresholds.summarise}`;
    const data = { transformation: 'summarize' as const, content, maxChars: thresholds.assistantSummaryChars };
    list.push('TRANSFORM', message.id, data, reason, { relevance, role: 'assistant' });
    prioritise(one, list);
  },

  search: (one, { thresholds, cycle }, list) => {
    const { message, relevance, saysTheSameAs, referenced } = one;
    const metadata = { relevance, role: 'search' };
    if (prunedAsIrrelevant(one, thresholds, list)) return;
    if (saysTheSameAs !== null)
      list.push(
        'PRUNE',
        message.id,
        {},
        `it says the same as ${saysTheSameAs} (relevance ${floored(relevance)})`,
        metadata,
      );
    else if (message.cycle < cycle && !referenced)
      list.push('PRUNE', message.id, {}, `nothing has referred to it since cycle ${message.cycle}`, metadata);
    else prioritise(one, list);
  },
};

function prunedAsIrrelevant({ message, relevance }: Rated, { prune }: Thresholds, list: OperationList): boolean {
  if (relevance >= prune) return false;
  const reason = `relevance ${floored(relevance)} is below ${prune}`;
  list.push('PRUNE', message.id, {}, reason, { relevance, role: message.role });
  return true;
}

/** What the model rated carries its rating on, and what it found relevant is tagged [U7]. */
function prioritise({ message, relevance, rating }: Rated, list: OperationList): void {
  if (rating === null || Math.abs(rating - message.importance) < MIN_SHIFT) return;
  const numbers = { rating, importance: message.importance, relevance };
  list.push('PRIORITIZE', message.id, { importance: rating }, `the model rates it ${floored(rating)}`, numbers);
  const high = rating > message.importance && !message.tags.includes('relevant');
  if (high) list.push('TAG', message.id, { tags: ['relevant'] }, `the model rates it ${floored(rating)}`, numbers);
}
