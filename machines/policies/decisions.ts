import type { ChainState, ContinueDecision, RecordedState } from '../contracts/chain-state.ts';
import type { Decision, GuardResult } from '../contracts/decision.ts';
import type { Limits, Thresholds } from '../contracts/limits.ts';
import type { Phase } from '../contracts/phase.ts';
import { withGrades } from './assessment.ts';
import { DEFAULT_PHASE, isPhase, NOTHING_IN_FLIGHT, skipsAhead, visibleMessages } from './progress.ts';
import {
  describeInputs,
  recommendedRule,
  YIELD_RULES,
  type YieldRule,
  type YieldRuleDefinition,
} from './yield-rules.ts';

const KEPT_DECISIONS = 16;
/** The number of decisions to continue that it keeps for loop detection. */
const KEPT_HISTORY = 64;

type DecisionRule = YieldRule | 'nextPhaseChosen' | 'nextPhaseInvalid' | 'directedByUser';

/** A placeholder for a missing decision: if it appears in a journal, a chart has a bug. */
export const NO_DECISION: Decision = {
  cycle: 1,
  rule: 'nextPhaseInvalid',
  complete: false,
  nextPhase: null,
  rationale: 'No decision was made.',
  inputs: {},
};

export function decideToComplete(state: ChainState, rule: YieldRule): Partial<ChainState> {
  return recordDecision(state, completion(state, rule));
}

function completion(state: ChainState, rule: YieldRule): Omit<Decision, 'cycle'> {
  const { evaluate, rationale, describe = describeInputs }: YieldRuleDefinition = YIELD_RULES[rule];
  const { holds, inputs } = evaluate(state);
  const decision = { rule, complete: true, nextPhase: null };
  if (!holds) return { ...decision, rationale: replacedGuard(rule), inputs: GUARD_REPLACED };
  return { ...decision, rationale: `${rationale} (${describe(inputs)})${gradingNote(state)}`, inputs };
}

/** The inputs of a decision whose guard was replaced with `provide`: the values that it compared are unknown. */
const GUARD_REPLACED: GuardResult['inputs'] = { guardReplaced: true };

/** The rationale if a guard was replaced with `provide` and disagrees with its policy. */
const replacedGuard = (guard: string): string => `decided by the guard ${guard}, which replaces the built-in one`;

/** Returns the decision to complete the run that the user may take or decline in manual mode; null if no rule recommends it. */
export function recommendation(state: ChainState): Decision | null {
  const rule = recommendedRule(state);
  return rule === null ? null : { cycle: state.recursion.cycle, ...completion(state, rule) };
}

export function decideToContinue(state: ChainState, rule: DecisionRule, phase: Phase): Partial<ChainState> {
  const { assessment } = state;
  const inputs = {
    proposal: assessment?.proposal ?? '',
    proposedBy: assessment?.proposedBy ?? '',
    informationSufficiency: assessment?.informationSufficiency ?? 0,
    confidence: assessment?.confidence ?? 0,
    change: assessment?.change ?? null,
  };
  const { proposal = '' } = assessment ?? {};
  const isInvalid = rule === 'nextPhaseInvalid';
  const isReplaced = isInvalid ? isPhase(proposal) : assessment !== null && proposal !== phase;
  const rationale = isReplaced
    ? `continuing with ${phase}: ${replacedGuard(isInvalid ? rule : 'nextPhaseIs')}`
    : isInvalid
      ? `"${proposal}" is not a phase; continuing with the default, ${DEFAULT_PHASE}`
      : `continuing with ${phase}: ${assessment?.rationale ?? 'requested'}`;
  return {
    ...startCycle(state, phase),
    ...recordDecision(state, {
      rule,
      complete: false,
      nextPhase: phase,
      rationale: `${rationale}${gradingNote(state)}`,
      inputs,
    }),
  };
}

function startCycle(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  const { recursion, assessment } = state;
  const { fingerprint = '', sketch = null } = assessment ?? {};
  const next = { cycle: recursion.cycle, target: phase, fingerprint, sketch };
  return {
    direction: phase,
    recursion: {
      ...recursion,
      cycle: recursion.cycle + 1,
      origin: phase,
      continuationPrompt: prompt || continuationPrompt(state, phase),
      history: appendToHistory(recursion.history, next),
    },
  };
}

function appendToHistory(history: readonly ContinueDecision[], next: ContinueDecision): readonly ContinueDecision[] {
  return [...history, next].slice(-KEPT_HISTORY);
}

/** Starts the next cycle with the phase that the user chose, with the user's prompt if there is one. */
export function decideAsDirected(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  return {
    ...startCycle(state, phase, prompt),
    newPrompt: isNewPrompt(phase, prompt),
    ...recordDecision(state, {
      rule: 'directedByUser',
      complete: false,
      nextPhase: phase,
      rationale: `continuing with ${phase}, as directed by the user`,
      inputs: { directedTo: phase, proposal: state.assessment?.proposal ?? '' },
    }),
  };
}

/**
 * Directs a run to the phase that the user chose. A later phase skips ahead in the current cycle; any other begins the next
 * cycle, and the current one counts as completed. So a user cannot direct a run beyond its cycle limit.
 */
export function direct(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  const { recursion } = state;
  const changes = { detour: false, phaseRetries: 0 };
  if (skipsAhead(state, phase)) {
    const continuationPrompt = prompt || recursion.continuationPrompt;
    const newPrompt = isNewPrompt(phase, prompt);
    return { ...changes, direction: phase, newPrompt, recursion: { ...recursion, continuationPrompt } };
  }
  const completed = { ...recursion, completedCycles: recursion.cycle };
  const directed = decideAsDirected({ ...state, recursion: completed }, phase, prompt);
  // The cycle gave no answer that loop detection could compare.
  return {
    ...directed,
    ...changes,
    ...(directed.recursion && { recursion: { ...directed.recursion, history: recursion.history } }),
  };
}

/** Whether the user gives Action a prompt of its own, which has to be classified. */
function isNewPrompt(phase: Phase, prompt: string): boolean {
  return phase === 'action' && prompt !== '';
}

/** Says in a rationale that the user's grader failed; empty otherwise. */
function gradingNote({ assessment }: ChainState): string {
  const problem = assessment?.gradingProblem ?? null;
  return problem === null ? '' : `; the default grades count, because the grader failed: ${problem}`;
}

function recordDecision(state: ChainState, decision: Omit<Decision, 'cycle'>): Partial<ChainState> {
  const whole: Decision = { cycle: state.recursion.cycle, ...decision };
  return { decision: whole, decisions: [...state.decisions, whole].slice(-KEPT_DECISIONS) };
}

/** The task of each phase when a cycle begins with it. */
const TASKS: Record<Phase, string> = {
  action: 'Answer again with what is known now.',
  experience: 'Find what is still missing.',
  intention: 'Clarify what the user wants.',
  observation: 'Record the insights that are not used yet.',
  understanding: 'Clean up the context: keep what matters.',
  yield: 'Review the answer.',
};

/** Returns the prompt of the next cycle: the request, the phase's task, and what is missing. Its length is bounded. */
export function continuationPrompt(state: ChainState, phase: Phase): string {
  const missing = state.results.experience?.reply.missing.slice(0, 8) ?? [];
  const lines = [state.request, TASKS[phase]];
  const conflicts = phase === 'intention' ? (state.results.intention?.conflicts ?? []) : [];
  if (conflicts.length > 0) lines.push(`The request contradicts itself: ${conflicts.slice(0, 4).join('; ')}.`);
  if (missing.length > 0) lines.push(`Still missing: ${missing.join(', ')}.`);
  return lines.join('\n');
}

/** Limits and thresholds to change in the decisions of a recorded run. */
export interface NumberChanges {
  readonly limits: Partial<Limits>;
  readonly thresholds: Partial<Thresholds>;
}

/**
 * Evaluates a recorded decision of Yield again, with other limits and thresholds. `after` is the state right after the
 * decision; its grades and the measured change of the answer are reused. `recorded` is null if the user was asked for a
 * direction. A direction that the user gave is kept. Returns null if the user would be asked.
 */
export function decideAgain(
  after: RecordedState,
  recorded: Decision | null,
  { limits, thresholds }: NumberChanges,
): Decision | null {
  if (recorded?.rule === 'directedByUser') return recorded;
  const { cycle, history } = after.recursion;
  const before: ChainState = {
    ...after,
    inFlight: NOTHING_IN_FLIGHT,
    limits: { ...after.limits, ...limits },
    thresholds: { ...after.thresholds, ...thresholds },
    recursion: {
      ...after.recursion,
      cycle: recorded?.cycle ?? cycle,
      // A decision to continue was added to the history that loop detection compares with.
      history: recorded?.complete === false ? history.slice(0, -1) : history,
    },
  };
  const { evidence } = before.assessment ?? {};
  const assessment = withGrades(before, visibleMessages(before), {
    ...(evidence && { grounding: evidence.grounding, satisfaction: evidence.satisfaction }),
    ...(evidence?.sufficiency != null && { sufficiency: evidence.sufficiency }),
    ...(evidence?.claim != null && { completion: evidence.claim }),
  });
  const state = { ...before, assessment };
  const rules = Object.keys(YIELD_RULES) as YieldRule[];
  const isManual = state.recursion.mode === 'manual';
  const rule = rules.find(
    (name) => YIELD_RULES[name].evaluate(state).holds && (!isManual || YIELD_RULES[name].because === 'limit'),
  );
  if (rule !== undefined) return decideToComplete(state, rule).decision ?? null;
  if (isManual) return null;
  const proposal = assessment?.proposal ?? '';
  const next = isPhase(proposal)
    ? decideToContinue(state, 'nextPhaseChosen', proposal)
    : decideToContinue(state, 'nextPhaseInvalid', DEFAULT_PHASE);
  return next.decision ?? null;
}
