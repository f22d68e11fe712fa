import type { ChainState, ContinueDecision } from '../contracts/chain-state.ts';
import type { AnswerSketch, Assessment, GuardResult } from '../contracts/decision.ts';
import type { Grading, GradingInput, SomeGrades } from '../contracts/grading.ts';
import type { Message } from '../contracts/message.ts';
import type { YieldReply } from '../contracts/phase-io.ts';
import { clipped } from '../text/clip.ts';
import { fnv1a, hexDigest } from '../text/hash.ts';
import { changeBetween } from '../text/similarity.ts';
import { eachStem } from '../text/terms.ts';
import { partsOf } from '../text/words.ts';
import { checkAgainstEvidence, gradingInput } from './evidence.ts';
import { unexpectedFailure } from './failures.ts';
import { isUnclear } from './phase-output.ts';
import { DEFAULT_PHASE, isPhase, selectNextPhase, visibleMessages } from './progress.ts';
import { contextTokens } from './understanding.ts';
import { addCost, addUsage, NO_USAGE, phaseDeadlineMs, tokensAllowed } from './usage.ts';
import { budgetExhausted, exact } from './yield-rules.ts';

/** Returns the values that the guards of `deciding` compare. */
export function assess(state: ChainState, messages: readonly Message[], reply: YieldReply): Assessment {
  const previous = state.assessment?.answer ?? null;
  const known = { fingerprint: fingerprint(reply.answer), sketch: sketchOf(reply.answer) };
  return {
    answer: reply.answer,
    toCompare: state.hasEmbeddings ? previous : null,
    toGrade: state.hasGrader,
    gradingProblem: null,
    change: previous === null ? null : changeBetween(previous, reply.answer),
    changeBy: 'words',
    ...known,
    ...judge(state, messages, reply, {}, known),
  };
}

/** Replaces the default grades of the assessed answer with those of another grader. */
export function withGrades(state: ChainState, messages: readonly Message[], grades: SomeGrades): Assessment | null {
  const { assessment, results } = state;
  if (assessment === null || results.yield === null) return assessment;
  return { ...assessment, ...judge(state, messages, results.yield.reply, grades, assessment), toGrade: false };
}

/** Returns what depends on the grades of an answer. Contradictions that a grader finds make the intent unclear. */
function judge(
  state: ChainState,
  messages: readonly Message[],
  reply: YieldReply,
  given: SomeGrades,
  { fingerprint, sketch }: Pick<Assessment, 'fingerprint' | 'sketch'>,
) {
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
    fingerprint,
    sketch,
  };
  return {
    ...scores,
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

/** Replaces the change in words with the change in embeddings (one minus cosine similarity); null keeps it. */
export function withComparison(assessment: Assessment | null, change: number | null): Assessment | null {
  if (assessment === null) return null;
  const compared = { ...assessment, toCompare: null };
  if (change === null || !Number.isFinite(change)) return compared;
  return { ...compared, change: exact(Math.min(1, Math.max(0, change))), changeBy: 'embeddings' };
}

/** Only the beginning of a longer answer is read, so that a decision stays fast. */
const MAX_CHARS = 20_000;
/** Terms in a sketch. A text with more keeps those with the lowest hashes: a uniform sample (A. Broder, 1997). */
const MAX_TERMS = 64;
/** Two answers with at least this share of common terms say the same in other words. */
const SAME_SHARE = 0.8;

/** Answers that differ in a negation make different statements. Content words leave negations out. */
const NEGATION = /\b(?:no|not|never|none|nobody|nothing|nor|neither|without|cannot)\b|n['’]t\b/iu;
const NEGATED = fnv1a('\u0000not');
const HAS_DIGIT = /\p{N}/u;
const STARTS_UPPER = /^\p{Lu}/u;
/** The text before the first word of a sentence, which is capitalized whether it is a name or not. */
const SENTENCE_START = /(?:^|[.!?:;\n])[\s"'“”‘’()*_-]*$/u;

/**
 * Returns what loop detection compares of an answer: hashes of its content words, and of those that make it a different statement
 * if they differ (numbers, names and negation).
 */
function sketchOf(answer: string): AnswerSketch {
  const text = answer.slice(0, MAX_CHARS);
  const terms = new Set<number>();
  const facts = new Set<number>();
  eachStem(text, (stem, surface, start) => {
    const hash = fnv1a(stem);
    terms.add(hash);
    const isName = STARTS_UPPER.test(surface) && !SENTENCE_START.test(text.slice(Math.max(0, start - 8), start));
    if (isName || HAS_DIGIT.test(stem)) facts.add(hash);
  });
  if (NEGATION.test(text)) for (const set of [terms, facts]) set.add(NEGATED);
  const lowest = [...terms].sort((one, other) => one - other).slice(0, MAX_TERMS);
  return { terms: lowest, facts: lowest.filter((hash) => facts.has(hash)) };
}

/** Returns how often the run has already continued with the same phase and nearly the same answer. */
function countRepeats(
  history: readonly ContinueDecision[],
  next: Pick<ContinueDecision, 'target' | 'fingerprint' | 'sketch'>,
): number {
  return history.filter(
    ({ target, fingerprint, sketch }) =>
      target === next.target && (fingerprint === next.fingerprint || isReworded(sketch, next.sketch)),
  ).length;
}

/**
 * Whether the later answer says the same as the earlier one in other words: at least 0.8 of the terms in common, the same numbers,
 * names and negation, and no more new terms than it leaves out. An answer that only adds something has progressed.
 */
function isReworded(earlier: AnswerSketch | null, later: AnswerSketch | null): boolean {
  if (earlier === null || later === null || earlier.terms.length === 0) return false;
  const end = Math.min(endOf(earlier), endOf(later));
  const { shared, dropped, added } = compareTerms(earlier.terms, later.terms, end);
  const isSame = added <= dropped && shared / (shared + added + dropped) >= SAME_SHARE;
  return isSame && hasFacts(earlier, end, later.terms) && hasFacts(later, end, earlier.terms);
}

const hasFacts = ({ facts }: AnswerSketch, end: number, terms: readonly number[]): boolean =>
  facts.every((fact) => fact > end || terms.includes(fact));

/** Returns the hash up to which a sketch is complete: a full one leaves out higher hashes. */
const endOf = ({ terms }: AnswerSketch): number =>
  terms.length < MAX_TERMS ? Number.POSITIVE_INFINITY : (terms.at(-1) ?? 0);

/** Counts the terms up to a hash that two ascending lists share, and those that only the first or only the second has. */
function compareTerms(first: readonly number[], second: readonly number[], end: number) {
  const counts = { shared: 0, dropped: 0, added: 0 };
  let at = 0;
  let other = 0;
  for (;;) {
    const one = first[at] ?? Number.POSITIVE_INFINITY;
    const two = second[other] ?? Number.POSITIVE_INFINITY;
    const lowest = Math.min(one, two);
    if (lowest > end || lowest === Number.POSITIVE_INFINITY) return counts;
    if (one === two) counts.shared += 1;
    else if (one < two) counts.dropped += 1;
    else counts.added += 1;
    if (one === lowest) at += 1;
    if (two === lowest) other += 1;
  }
}

/** Whether the user's grader must still grade the answer: once per answer, and only while the budget lasts. */
export function gradingWanted(state: ChainState): GuardResult {
  const isToGrade = state.assessment?.toGrade ?? false;
  const isBudgetSpent = budgetExhausted(state).holds;
  return { holds: isToGrade && !isBudgetSpent, inputs: { isToGrade, isBudgetSpent } };
}

/** Returns what the user's grader judges: of the evidence, only ids and contents. */
export function answerToGrade(state: ChainState): GradingInput {
  const reply = state.results.yield?.reply ?? { answer: '', rationale: '', taskComplete: false };
  const input = gradingInput(state, visibleMessages(state), reply);
  return { ...input, evidence: input.evidence.map(({ id, content }) => ({ id, content })) };
}

/** Assesses the answer again with the grades of the user's grader, and charges the usage of a judge. */
export function applyGrading(state: ChainState, { grades, problem, usage }: Grading): Partial<ChainState> {
  const assessment = withGrades(state, visibleMessages(state), grades);
  return {
    assessment: assessment && { ...assessment, gradingProblem: problem && clipped(problem, PROBLEM_CHARS) },
    usage: addUsage(state.usage, usage),
    costs: addCost(state.costs, 'grading', usage),
  };
}

const PROBLEM_CHARS = 300;

/** Returns the result of a grader that failed: the default grades stay. */
export function ungraded(error: unknown): Grading {
  return { grades: {}, problem: unexpectedFailure(error).message, usage: NO_USAGE };
}

export function ungradedInTime({ limits, phase }: ChainState): Grading {
  const problem = `it did not finish within ${phaseDeadlineMs(limits, phase)} ms`;
  return { grades: {}, problem, usage: NO_USAGE };
}
