import type { Message } from '../../contracts/message.ts';
import type { Thresholds } from '../../contracts/thresholds.ts';
import { floored } from '../numbers.ts';
import type { Rated } from '../relevance/rating.ts';
import { goes, isSummarized, type RetentionDecisions } from './decisions.ts';

export interface RuleInputs {
  readonly request: string;
  readonly cycle: number;
  readonly thresholds: Thresholds;
}

type Rule = (one: Rated, inputs: RuleInputs, fates: RetentionDecisions) => void;

/** Applies the rule of a message's role; a role that is none has no rule. */
export function applyRule(one: Rated, inputs: RuleInputs, fates: RetentionDecisions): void {
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
