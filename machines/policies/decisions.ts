import type { ChainState } from '../contracts/chain-state.ts';
import type { Decision, DecisionRule, GuardResult } from '../contracts/decision.ts';
import type { Phase } from '../contracts/phase.ts';
import { answerConverged, budgetExhausted, confidenceReached, cycleLimitReached, taskComplete } from './completion.ts';
import { loopVerdict, remember } from './loop-detection.ts';
import { DEFAULT_PHASE } from './phase-selection.ts';

const KEPT = 16;

/** The rules that end a run, with why in words [Y8]. */
const COMPLETING = {
  cycleLimitReached: { verdict: cycleLimitReached, says: 'the limit of cycles is reached' },
  budgetExhausted: { verdict: budgetExhausted, says: 'the budget is used up' },
  confidenceReached: { verdict: confidenceReached, says: 'the answer is confident enough' },
  answerConverged: { verdict: answerConverged, says: 'the answer no longer changes' },
  taskComplete: { verdict: taskComplete, says: 'the task is complete' },
  loopDetected: { verdict: loopDetected, says: 'going on would repeat an earlier turn' },
} as const;
export type CompletingRule = keyof typeof COMPLETING;

/** Stands where a decision should be and none is: seen in a journal, it points at a mistake in a chart. */
export const NO_DECISION: Decision = {
  cycle: 1,
  rule: 'nextPhaseInvalid',
  complete: false,
  nextPhase: null,
  rationale: 'There is no decision to speak of.',
  inputs: {},
};

export function loopDetected({ assessment, thresholds }: ChainState): GuardResult {
  return loopVerdict(assessment?.repeats ?? 0, thresholds.loopRepeats);
}

/** The run is complete by a rule. */
export function decideToComplete(state: ChainState, rule: CompletingRule): Partial<ChainState> {
  const { verdict, says } = COMPLETING[rule];
  const { inputs } = verdict(state);
  return taken(state, { rule, complete: true, nextPhase: null, rationale: `${says} (${spell(inputs)})`, inputs });
}

/** The run goes on with a phase: the next cycle begins there [Y6]. */
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
      ? `"${assessment?.proposal ?? ''}" is no phase, so it goes on with the default, ${DEFAULT_PHASE}`
      : `on with ${phase}: ${assessment?.rationale ?? 'asked for'}`;
  return { ...goOn(state, phase), ...taken(state, { rule, complete: false, nextPhase: phase, rationale, inputs }) };
}

/** The next cycle begins with a phase [Y6]. */
function goOn(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
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

/** The user says where to go on, perhaps with words of their own [Y4]. */
export function decideAsDirected(state: ChainState, phase: Phase, prompt = ''): Partial<ChainState> {
  return {
    ...goOn(state, phase, prompt),
    ...taken(state, {
      rule: 'directedByUser',
      complete: false,
      nextPhase: phase,
      rationale: `on with ${phase}: the user said so`,
      inputs: { directedTo: phase, proposal: state.assessment?.proposal ?? '' },
    }),
  };
}

function taken(state: ChainState, decision: Omit<Decision, 'cycle'>): Partial<ChainState> {
  const whole: Decision = { cycle: state.recursion.cycle, ...decision };
  return { decision: whole, decisions: [...state.decisions.slice(-(KEPT - 1)), whole] };
}

function spell(inputs: GuardResult['inputs']): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 1000) / 1000 : value}`)
    .join(', ');
}

/** What each phase is asked for when a cycle begins with it. */
const ASKED: Record<Phase, string> = {
  action: 'Answer again with what is known now.',
  experience: 'Find what is still missing.',
  intention: 'Make clear what is wanted.',
  observation: 'Take in the insights not yet used.',
  understanding: 'Clean up the context: keep what matters.',
  yield: 'Look at the answer again.',
};

/** The prompt of the next cycle [Y6]: the request, what is asked now, and what was missing. It never grows with the cycles. */
export function continuationPrompt(state: ChainState, phase: Phase): string {
  const missing = state.results.experience?.reply.missing.slice(0, 8) ?? [];
  const lines = [state.request, ASKED[phase]];
  const conflicts = phase === 'intention' ? (state.results.intention?.conflicts ?? []) : [];
  if (conflicts.length > 0) lines.push(`The request contradicts itself: ${conflicts.slice(0, 4).join('; ')}.`);
  if (missing.length > 0) lines.push(`Still missing: ${missing.join(', ')}.`);
  return lines.join('\n');
}
