import type { ChainState, RecordedState } from '../contracts/chain-state.ts';
import type { Decision } from '../contracts/decision.ts';
import type { Limits, Thresholds } from '../contracts/limits.ts';
import { withGrades } from './assessment.ts';
import { decideToComplete, decideToContinue } from './decisions.ts';
import { DEFAULT_PHASE, isPhase } from './phase-selection.ts';
import { NOTHING_IN_FLIGHT, visibleMessages } from './progress.ts';
import { evaluateYieldRules, ruleResult, YIELD_RULES, type YieldRule } from './yield-rules.ts';

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
  const assessed = { ...before, assessment };
  const state = { ...assessed, ...evaluateYieldRules(assessed) };
  const rules = Object.keys(YIELD_RULES) as YieldRule[];
  const isManual = state.recursion.mode === 'manual';
  const rule = rules.find(
    (name) => ruleResult(state, name).holds && (!isManual || YIELD_RULES[name].because === 'limit'),
  );
  if (rule !== undefined) return decideToComplete(state, rule).decision ?? null;
  if (isManual) return null;
  const proposal = assessment?.proposal ?? '';
  const next = isPhase(proposal)
    ? decideToContinue(state, 'nextPhaseChosen', proposal)
    : decideToContinue(state, 'nextPhaseInvalid', DEFAULT_PHASE);
  return next.decision ?? null;
}
