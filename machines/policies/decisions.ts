import type { ChainState, ContinueDecision } from '../contracts/chain-state.ts';
import type { Decision, GuardResult } from '../contracts/decision.ts';
import type { Phase } from '../contracts/phase.ts';
import { DEFAULT_PHASE } from './phase-selection.ts';
import { ruleResult, YIELD_RULES, type YieldRule } from './yield-rules.ts';

/** The number of decisions that the state keeps. */
const KEPT_DECISIONS = 16;
/** The number of decisions to continue that it keeps for loop detection. */
const KEPT_HISTORY = 64;

export type DecisionRule = YieldRule | 'nextPhaseChosen' | 'nextPhaseInvalid' | 'directedByUser';

/** A placeholder for a missing decision: if it appears in a journal, a chart has a bug. */
export const NO_DECISION: Decision = {
  cycle: 1,
  rule: 'nextPhaseInvalid',
  complete: false,
  nextPhase: null,
  rationale: 'No decision was made.',
  inputs: {},
};

/** Completes the run by a rule that holds. */
export function decideToComplete(state: ChainState, rule: YieldRule): Partial<ChainState> {
  const { inputs } = ruleResult(state, rule);
  const rationale = `${YIELD_RULES[rule].rationale} (${describeInputs(inputs)})`;
  return recordDecision(state, { rule, complete: true, nextPhase: null, rationale, inputs });
}

/** Starts the next cycle with a phase. */
export function decideToContinue(state: ChainState, rule: DecisionRule, phase: Phase): Partial<ChainState> {
  const { assessment } = state;
  const inputs = {
    proposal: assessment?.proposal ?? '',
    proposedBy: assessment?.proposedBy ?? '',
    informationSufficiency: assessment?.informationSufficiency ?? 0,
    confidence: assessment?.confidence ?? 0,
    change: assessment?.change ?? null,
  };
  const rationale =
    rule === 'nextPhaseInvalid'
      ? `"${assessment?.proposal ?? ''}" is not a phase; continuing with the default, ${DEFAULT_PHASE}`
      : `continuing with ${phase}: ${assessment?.rationale ?? 'requested'}`;
  return {
    ...startCycle(state, phase),
    ...recordDecision(state, { rule, complete: false, nextPhase: phase, rationale, inputs }),
  };
}

function startCycle(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  const { recursion, assessment } = state;
  const next = { cycle: recursion.cycle, target: phase, fingerprint: assessment?.fingerprint ?? '' };
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

/** Appends a decision to continue; the newest 64 are kept. */
export function appendToHistory(
  history: readonly ContinueDecision[],
  next: ContinueDecision,
): readonly ContinueDecision[] {
  return [...history, next].slice(-KEPT_HISTORY);
}

/** Starts the next cycle with the phase that the user chose, with the user's prompt if there is one. */
export function decideAsDirected(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  return {
    ...startCycle(state, phase, prompt),
    ...recordDecision(state, {
      rule: 'directedByUser',
      complete: false,
      nextPhase: phase,
      rationale: `continuing with ${phase}, as directed by the user`,
      inputs: { directedTo: phase, proposal: state.assessment?.proposal ?? '' },
    }),
  };
}

function recordDecision(state: ChainState, decision: Omit<Decision, 'cycle'>): Partial<ChainState> {
  const whole: Decision = { cycle: state.recursion.cycle, ...decision };
  return { decision: whole, decisions: [...state.decisions, whole].slice(-KEPT_DECISIONS) };
}

function describeInputs(inputs: GuardResult['inputs']): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 1000) / 1000 : value}`)
    .join(', ');
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
