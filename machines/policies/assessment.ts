import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment, GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import { fnv1a } from '../text/hash.ts';
import { jaccard } from '../text/similarity.ts';
import { partsOf, signsOf, wordSet } from '../text/words.ts';
import { checkAgainstEvidence } from './evidence.ts';
import { countRepeats } from './loop-detection.ts';
import { isUnclear } from './phase-output.ts';
import { isPhase, selectNextPhase } from './phase-selection.ts';
import { contextTokens, tokensAllowed } from './understanding.ts';

/** Computes the values that the guards of `deciding` compare. */
export function assess(state: ChainState, messages: readonly Message[], reply: YieldReply): Assessment {
  const previous = state.assessment?.answer ?? null;
  const scores = checkAgainstEvidence(state, messages, reply);
  const selection = selectNextPhase(
    {
      informationSufficiency: scores.informationSufficiency,
      unclearIntent: isUnclear(state.results),
      needsTools: reply.needsTools,
      undigestedInsights: state.results.observation?.reply.undigested ?? false,
      mayShrink: mayShrink(state, messages),
      messages,
      tokens: contextTokens(state, messages),
      tokensAllowed: tokensAllowed(state),
      modelProposal: reply.proposedPhase,
    },
    state.thresholds,
  );
  const print = fingerprint(reply.answer);
  const target = isPhase(selection.proposal) ? selection.proposal : 'action';
  return {
    answer: reply.answer,
    toCompare: state.hasEmbeddings ? previous : null,
    change: previous === null ? null : changeBetween(previous, reply.answer),
    changeBy: 'words',
    ...scores,
    fingerprint: print,
    repeats: countRepeats(state.recursion.history, { target, fingerprint: print }),
    proposal: selection.proposal,
    proposedBy: selection.by,
    rationale: selection.rationale,
  };
}

/**
 * Whether another Understanding may help: the last one removed something, or many messages were added since. Otherwise
 * the run would keep returning to it for content that must stay.
 */
function mayShrink({ results: { understanding }, thresholds }: ChainState, messages: readonly Message[]): boolean {
  if (understanding === null) return true;
  const { pruned, summarised, messagesAfter } = understanding.statistics;
  return pruned + summarised > 0 || messages.length >= messagesAfter + thresholds.crowdedMessages / 2;
}

/**
 * A short hexadecimal fingerprint of a text: the same for the same words and signs in the same order, whatever their
 * case, spacing and punctuation. For loop detection, not for security.
 */
export function fingerprint(text: string): string {
  return (fnv1a(partsOf(text).join(' ')) >>> 0).toString(16).padStart(8, '0');
}

/**
 * How much an answer changed: 0 for the same words, 1 for no word in common (one minus the Jaccard index of their words
 * and signs). Two empty answers have not changed.
 */
export function changeBetween(previous: string, current: string): number {
  return 1 - jaccard(tokens(previous), tokens(current));
}

/** Whether the change must still be measured by embeddings. */
export function comparisonWanted({ assessment }: ChainState): GuardResult {
  const isToCompare = assessment?.toCompare != null;
  return { holds: isToCompare, inputs: { isToCompare } };
}

/** Replaces the change by words with the one by embeddings (one minus cosine similarity); null keeps it. */
export function withComparison(assessment: Assessment | null, change: number | null): Assessment | null {
  if (assessment === null) return null;
  const compared = { ...assessment, toCompare: null };
  if (change === null || !Number.isFinite(change)) return compared;
  return { ...compared, change: Math.min(1, Math.max(0, change)), changeBy: 'embeddings' };
}

const tokens = (text: string): ReadonlySet<string> => new Set([...wordSet(text), ...signsOf(text)]);
