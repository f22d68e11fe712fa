import type { ChainState } from '../contracts/chain-state.ts';
import type { Decision, GuardResult } from '../contracts/decision.ts';
import type { Phase } from '../contracts/phase.ts';
import { remember } from './loop-detection.ts';
import { DEFAULT_PHASE } from './phase-selection.ts';
import { ruleResult, YIELD_RULES, type YieldRule } from './yield-rules.ts';

/** The newest decisions that the state keeps. */
const KEPT = 16;

export type DecisionRule = YieldRule | 'nextPhaseChosen' | 'nextPhaseInvalid' | 'directedByUser';

/** Replaces a decision that is missing. In a journal, it points at a bug in a chart. */
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
  const turn = { cycle: recursion.cycle, target: phase, fingerprint: assessment?.fingerprint ?? '' };
  return {
    direction: phase,
    recursion: {
      ...recursion,
      cycle: recursion.cycle + 1,
      origin: phase,
      continuationPrompt: prompt || continuationPrompt(state, phase),
      history: remember(recursion.history, turn),
    },
  };
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
  return { decision: whole, decisions: [...state.decisions.slice(-(KEPT - 1)), whole] };
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
  intention: 'Make clear what is wanted.',
  observation: 'Take in the insights not yet used.',
  understanding: 'Clean up the context: keep what matters.',
  yield: 'Look at the answer again.',
};

/** Returns the next cycle's prompt: the request, the phase's task, and what is missing. It does not grow with the cycles. */
export function continuationPrompt(state: ChainState, phase: Phase): string {
  const missing = state.results.experience?.reply.missing.slice(0, 8) ?? [];
  const lines = [state.request, TASKS[phase]];
  const conflicts = phase === 'intention' ? (state.results.intention?.conflicts ?? []) : [];
  if (conflicts.length > 0) lines.push(`The request contradicts itself: ${conflicts.slice(0, 4).join('; ')}.`);
  if (missing.length > 0) lines.push(`Still missing: ${missing.join(', ')}.`);
  return lines.join('\n');
}
