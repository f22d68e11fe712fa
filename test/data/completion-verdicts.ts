import type { ChainState } from '../../machines/contracts/chain-state.ts';
import { answerConverged, confidenceReached, taskComplete } from '../../machines/policies/yield-rules.ts';

/** Which of the rules that look at an answer hold, by name. */
export function completionVerdicts(state: ChainState): readonly string[] {
  const rules = { confidenceReached, answerConverged, taskComplete };
  return Object.entries(rules).flatMap(([name, rule]) => (rule(state).holds ? [name] : []));
}
