import {
  type AnswerReason,
  type Fallback,
  type FinalAnswer,
  hasVisibleText,
  type SynthesisOutcome,
  type ValueOutcome,
} from '../../contracts/synthesis.ts';
import type { Conflict } from '../../heuristics/conflict.ts';
import { preview } from '../../text/summary.ts';
import { isSupported } from '../evidence.ts';
import { PROSE_REMEDY } from '../model-status.ts';
import { describeInputs, isAbove } from '../yield-rules.ts';
import { type AnswerBasis, bestDraft } from './basis.ts';

const STOPPED = { cancelled: 'canceled', interrupted: 'interrupted' } as const;

/** The checks of a final text. `confidence`: 0..1. */
export interface Judged {
  readonly text: string;
  readonly confidence: number;
  readonly grounding: FinalAnswer['grounding'];
  /** The ids of the messages whose numbers differ from those of the text. */
  readonly contradictedBy: readonly string[];
  readonly conflicts: readonly Conflict[];
  /** Whether the text only says that nothing was found. */
  readonly isEmpty: boolean;
}

/**
 * Returns every reason why an answer is degraded, the most important first: how the run ended, incomplete state, a missing value, missing
 * inputs, problems of the text, exhausted TTL (cycles), no complete cycle, no convergence, context and synthesis, low confidence.
 */
export function reasonsOf(
  basis: AnswerBasis,
  written: SynthesisOutcome,
  judged: Judged,
  stated: ValueOutcome | null,
): readonly AnswerReason[] {
  const { interruption, limits, material, thresholds } = basis;
  const rule = ruleOf(basis);
  const found: AnswerReason[] = [];
  const note = (reason: AnswerReason): void => {
    if (reason.message !== '') found.push({ ...reason, message: sentence(reason.message) });
  };
  if (interruption?.kind === 'cancelled' || interruption?.kind === 'interrupted')
    note({
      code: interruption.kind,
      message: `The run was ${STOPPED[interruption.kind]}${because(interruption.reason)}.`,
    });
  if (interruption?.kind === 'model_unavailable')
    note({ code: 'model_unavailable', message: `The model was unavailable: ${lastFailure(basis)}` });
  note({ code: 'incomplete_state', message: incompleteRun(basis) });
  if (interruption?.kind === 'deadline')
    note({ code: 'deadline_passed', message: deadlineText(limits), limitMs: limits.phasesMs ?? limits.totalMs });
  if (interruption?.kind === 'budget' || (rule === 'budgetExhausted' && !material.converged))
    note({ code: 'budget_exhausted', message: budgetText(basis) });
  if (stated?.ok === false)
    note({ code: 'value_missing', message: `The answer is only text, without the requested value: ${stated.problem}` });
  const tasks = proseTasks(basis, written);
  if (tasks.length > 0) note({ code: 'prose_replies', message: proseText(tasks), tasks });
  if (basis.deciderProblem)
    note({
      code: 'decider_failed',
      message: `Capabilities may be missing: the continuation decider failed: ${basis.deciderProblem}`,
    });
  for (const reason of [...missingInputs(basis), ...textReasons(basis, judged)]) note(reason);
  if (reachedCycleLimit(basis) && !settledAtLimit(basis))
    note({
      code: 'cycle_limit_reached',
      message: cycleLimitText(limits.maxCycles),
      cycles: material.cycles,
      limit: limits.maxCycles,
    });
  if (material.cycles === 0) note({ code: 'zero_passes', message: 'No cycle was completed.' });
  if (rule === 'loopDetected')
    note({ code: 'loop_detected', message: 'The run was stopped because it started to repeat itself.' });
  if (isUnsettled(basis)) note({ code: 'not_converged', message: 'The run ended before the answer settled.' });
  const { excessTokens } = basis;
  if (excessTokens > 0)
    note({
      code: 'context_over_limit',
      message: `The context is ${excessTokens} tokens over its limit: the remaining messages are protected or need your consent to remove.`,
      excessTokens,
    });
  if (written.type === 'failed')
    note({
      code: 'synthesis_failed',
      message: `${UNWRITTEN[written.fallback]}: ${written.error}`,
      fallback: written.fallback,
    });
  const { confidence } = judged;
  const threshold = Math.min(thresholds.confidence, thresholds.ungroundedConfidence);
  if (hasVisibleText(judged.text) && !judged.isEmpty && !isAbove(confidence, threshold))
    note({
      code: 'low_confidence',
      message: `The confidence is low (${describeInputs({ confidence, 'not above': threshold })}).`,
      confidence,
      threshold,
    });
  return found;
}

function textReasons(
  basis: AnswerBasis,
  { grounding, contradictedBy, conflicts, isEmpty }: Judged,
): readonly AnswerReason[] {
  if (isEmpty) return [{ code: 'no_evidence', message: 'Nothing was found that answers the request.' }];
  const reasons: AnswerReason[] = [];
  if (contradictedBy.length > 0)
    reasons.push({
      code: 'contradicted',
      message: `The numbers in the gathered text differ from those in the answer: ${listed(contradictedBy.slice(0, NAMED))}`,
      by: contradictedBy,
    });
  else if (conflicts.length > 0)
    reasons.push({
      code: 'contradicted',
      message: `The gathered texts contradict each other: ${conflicts.slice(0, NAMED).map(conflictText).join('; ')}`,
      by: [...new Set(conflicts.flatMap(({ ids }) => ids))],
    });
  if (grounding !== null && !isSupported(basis, grounding.score)) {
    const { score, threshold } = grounding;
    const compared = describeInputs({ grounding: score, below: threshold });
    const message = `The gathered text does not support the answer (${compared}).`;
    reasons.push({ code: 'not_grounded', message, score, threshold });
  }
  return reasons;
}

function conflictText({ ids: [id, other], numbers: [number, otherNumber], newer }: Conflict): string {
  const which = newer === null ? '' : `, and ${newer} is newer`;
  return `${id} says ${number}, ${other} says ${otherNumber}${which}`;
}

/** Returns the reasons why inputs of the answer are missing: something failed or was cut short. */
function missingInputs(basis: AnswerBasis): readonly AnswerReason[] {
  const { failedCapabilities, endedRounds, sourceFailure } = basis;
  const reasons: AnswerReason[] = [];
  if (sourceFailure)
    reasons.push({ code: 'search_failed', message: `The documents could not be searched: ${sourceFailure}` });
  for (const { name: capability, error, isDenied = false } of failedCapabilities.slice(0, NAMED)) {
    const what = isDenied ? `A call of "${capability}" did not run` : `The capability "${capability}" failed`;
    reasons.push({
      code: isDenied ? 'capability_denied' : 'capability_failed',
      // The text that a capability throws may be of any length.
      message: `${what}: ${preview(error, 200)}`,
      capability,
    });
  }
  if (endedRounds !== null) {
    const { runs, limit, stopReason } = endedRounds;
    const cause = stopReason === 'same_call_repeated' ? 'repeated call' : `${runs} of at most ${limit} runs`;
    const message = `The model asked for another round of capabilities, which did not run (${cause}).`;
    reasons.push({ code: 'rounds_ended', message, runs, limit });
  }
  return reasons;
}

/** At most this many capabilities and messages are named. */
const NAMED = 8;

function budgetText({ usage, limits: { maxTokens, maxModelCalls, maxCost }, currency }: AnswerBasis): string {
  const isCost =
    maxCost !== null &&
    usage.inputTokens + usage.outputTokens < (maxTokens ?? 0) &&
    usage.modelCalls < (maxModelCalls ?? 0);
  if (!isCost) return 'The budget of tokens or model calls was used up.';
  return `The next model call could exceed the cost limit of ${maxCost} ${currency}. The cost of a call is reserved with "maxOutputTokens", if the model has it.`;
}

function deadlineText({ totalMs, phasesMs }: AnswerBasis['limits']): string {
  if (totalMs === null) return 'The run reached its limit of time.';
  if (phasesMs === null) return `The run reached its limit of ${durationText(totalMs)}.`;
  return `The phases reached their limit of ${durationText(phasesMs)}; the rest of the run’s ${durationText(totalMs)} is reserved for the answer.`;
}

function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms >= 60_000 && ms % 60_000 === 0 ? `${ms / 60_000} min` : `${Math.round(ms / 100) / 10} s`;
}

function proseTasks({ prosePhases }: AnswerBasis, written: SynthesisOutcome): readonly string[] {
  const isProse = written.type === 'written' && written.prose;
  return [...prosePhases, ...(isProse ? ['synthesis'] : [])];
}

const proseText = (tasks: readonly string[]): string =>
  `The model answered in prose instead of JSON (${tasks.join(', ')}), so its text is used unchanged; ${PROSE_REMEDY}.`;

const UNWRITTEN: Readonly<Record<Fallback, string>> = {
  prompt: 'The model could not write the final answer because of its prompt',
  model: 'The model could not write the final answer because its call failed',
  validation: 'The model could not write the final answer because its reply was invalid',
  other: 'The model could not write the final answer',
};

export function reachedCycleLimit(basis: AnswerBasis): boolean {
  return ruleOf(basis) === 'cycleLimitReached' || basis.cyclesLeft === 0;
}

/** Returns the rule that completed the run; null if its guard was replaced, because the rule's condition may not hold. */
const ruleOf = ({ decision }: AnswerBasis): string | null =>
  decision === null || decision.inputs['guardReplaced'] ? null : decision.rule;

/** A failed phase, a missing answer, or nothing to answer from. */
function incompleteRun(basis: AnswerBasis): string {
  const { interruption, answer, material } = basis;
  const lost = lostPhases(basis);
  if (interruption?.kind === 'phase_failed') return `A phase failed: ${lastFailure(basis)}`;
  if (lost.length > 0 && interruption?.kind !== 'model_unavailable')
    return `The run continued without ${listed(lost)}: ${lastFailure(basis)}`;
  if (typeof answer === 'string' && !hasVisibleText(answer)) return 'Yield returned no answer.';
  const hasText = hasVisibleText(bestDraft(material).text);
  return material.cycles > 0 && !hasText ? 'There are no results to answer from.' : '';
}

function lostPhases({ phases, failures, material }: AnswerBasis): readonly string[] {
  const failed = new Set<string>(failures.map(({ phase }) => phase));
  for (const { phase } of material.steps) failed.delete(phase);
  const known = phases.filter((phase) => failed.delete(phase));
  return [...known, ...failed];
}

/** Whether the run ended before a rule found the answer good enough. In manual mode, the user decides that. */
function isUnsettled({ material, answer, interruption, mode }: AnswerBasis): boolean {
  if (material.converged || answer === null) return false;
  return !(interruption?.kind === 'finished_by_user' && mode === 'manual');
}

function cycleLimitText(maxCycles: number | null): string {
  if (maxCycles === null) return 'All cycles were used up.';
  return `The limit of ${maxCycles} ${maxCycles === 1 ? 'cycle' : 'cycles'} was reached.`;
}

/** Whether the run reached its cycle limit with an answer that would have completed it anyway: the limit cut nothing off. */
const settledAtLimit = (basis: AnswerBasis): boolean =>
  ruleOf(basis) === 'cycleLimitReached' && basis.material.converged;

/** Returns a note about a cycle limit that cut nothing off; otherwise an empty string. */
export const limitNote = (basis: AnswerBasis): string =>
  settledAtLimit(basis) ? cycleLimitText(basis.limits.maxCycles) : '';

/** Returns the text with a period at its end, so that sentences can follow each other. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const because = (reason: string): string => (reason === '' ? '' : ` (${reason})`);

function lastFailure({ failures }: AnswerBasis): string {
  const last = failures.at(-1);
  return last === undefined ? 'no failure was recorded.' : `${last.phase}: ${last.failure.message}`;
}
