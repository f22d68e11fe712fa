import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { GuardResult } from '../contracts/guard-result.ts';
import { jaccard } from '../text/jaccard.ts';
import { signsOf, wordSet } from '../text/words.ts';

/**
 * How much an answer changed: 0 for the same words, 1 for no word in common. One minus the Jaccard index of the two sets of words and
 * signs. Two empty answers have not changed.
 */
export function changeBetween(previous: string, current: string): number {
  return 1 - jaccard(tokens(previous), tokens(current));
}

/** Whether the change is yet to be measured by embeddings. */
export function comparisonWanted({ assessment }: ChainState): GuardResult {
  const isToCompare = assessment?.toCompare != null;
  return { holds: isToCompare, inputs: { isToCompare } };
}

/** The change by embeddings, one minus their cosine similarity, in place of the one by words; null leaves that. */
export function withComparison(assessment: Assessment | null, change: number | null): Assessment | null {
  if (assessment === null) return null;
  const compared = { ...assessment, toCompare: null };
  if (change === null || !Number.isFinite(change)) return compared;
  return { ...compared, change: Math.min(1, Math.max(0, change)), changeBy: 'embeddings' };
}

const tokens = (text: string): ReadonlySet<string> => new Set([...wordSet(text), ...signsOf(text)]);
