import type { ChainState } from '../contracts/chain-state.ts';
import type { Assessment } from '../contracts/decision.ts';
import type { SomeGrades } from '../contracts/grading.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import { hexDigest } from '../text/hash.ts';
import { jaccardDistance } from '../text/similarity.ts';
import { partsOf, signsOf, wordSet } from '../text/words.ts';
import { exact } from './comparison.ts';
import { checkAgainstEvidence } from './evidence.ts';
import { countRepeats, sketchOf } from './loop-detection.ts';
import { isUnclear } from './phase-output.ts';
import { DEFAULT_PHASE, isPhase, selectNextPhase } from './phase-selection.ts';
import { contextTokens } from './understanding.ts';
import { tokensAllowed } from './usage.ts';

/** Returns the values that the guards of `deciding` compare. */
export function assess(state: ChainState, messages: readonly Message[], reply: YieldReply): Assessment {
  const previous = state.assessment?.answer ?? null;
  return {
    answer: reply.answer,
    toCompare: state.hasEmbeddings ? previous : null,
    toGrade: state.hasGrader,
    gradingProblem: null,
    change: previous === null ? null : changeBetween(previous, reply.answer),
    changeBy: 'words',
    ...judge(state, messages, reply, {}),
  };
}

/** Replaces the default grades of the assessed answer with those of another grader. */
export function withGrades(state: ChainState, messages: readonly Message[], grades: SomeGrades): Assessment | null {
  const { assessment, results } = state;
  if (assessment === null || results.yield === null) return assessment;
  return { ...assessment, ...judge(state, messages, results.yield.reply, grades), toGrade: false };
}

/** Returns what depends on the grades of an answer. Contradictions that a grader finds make the intent unclear. */
function judge(state: ChainState, messages: readonly Message[], reply: YieldReply, given: SomeGrades) {
  const scores = checkAgainstEvidence(state, messages, reply, given);
  const selection = selectNextPhase(
    {
      informationSufficiency: scores.informationSufficiency,
      unclearIntent: isUnclear(state.results) || (given.contradictions ?? []).length > 0,
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
  const turn = {
    target: isPhase(selection.proposal) ? selection.proposal : DEFAULT_PHASE,
    fingerprint: fingerprint(reply.answer),
    sketch: sketchOf(reply.answer),
  };
  return {
    ...scores,
    fingerprint: turn.fingerprint,
    sketch: turn.sketch,
    repeats: countRepeats(state.recursion.history, turn),
    proposal: selection.proposal,
    proposedBy: selection.by,
    rationale: selection.rationale,
  };
}

/**
 * Whether Understanding can still shrink the context: the last one did, or many messages were added since. A cycle that
 * began with it does not lead back to it, because a context that stays at its limit loses a little each time.
 */
function mayShrink({ results, thresholds, decisions }: ChainState, messages: readonly Message[]): boolean {
  if (results.understanding === null) return true;
  if (decisions.at(-1)?.nextPhase === 'understanding') return false;
  const { pruned, summarized, messagesAfter } = results.understanding.statistics;
  return pruned + summarized > 0 || messages.length >= messagesAfter + thresholds.crowdedMessages / 2;
}

/**
 * Returns eight hexadecimal digits: the same for the same words and signs in the same order, regardless of case, spacing
 * and punctuation. For loop detection, not for security.
 */
export function fingerprint(text: string): string {
  return hexDigest(partsOf(text).join(' '));
}

/**
 * Returns how much an answer changed: 0 for the same words, 1 for none in common (one minus the Jaccard index of words
 * and signs). Two empty answers have not changed.
 */
export function changeBetween(previous: string, current: string): number {
  return jaccardDistance(tokens(previous), tokens(current));
}

/** Replaces the change in words with the change in embeddings (one minus cosine similarity); null keeps it. */
export function withComparison(assessment: Assessment | null, change: number | null): Assessment | null {
  if (assessment === null) return null;
  const compared = { ...assessment, toCompare: null };
  if (change === null || !Number.isFinite(change)) return compared;
  return { ...compared, change: exact(Math.min(1, Math.max(0, change))), changeBy: 'embeddings' };
}

const tokens = (text: string): ReadonlySet<string> => new Set([...wordSet(text), ...signsOf(text)]);
