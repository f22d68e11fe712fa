import type { ChainState } from '../../../../machines/contracts/chain-state.ts';
import type { DecisionRule } from '../../../../machines/policies/decisions.ts';
import { visibleMessages } from '../../../../machines/policies/progress.ts';

/** What the table of the chain asks of a run as it stood, in the words of the requirements. */

/** Every end of an attempt charges one call, but for an error, which says nothing of one. A timer may leave a call behind that is lost. */
export const isSpent = ({ usage, limits }: ChainState, name: string): boolean =>
  usage.modelCalls + (/^(attempt|action): (?!error)/.test(name) ? 1 : 0) >= limits.maxModelCalls;
export const mayRepeat = ({ phaseRetries, limits }: ChainState): boolean => phaseRetries < limits.maxPhaseRetries;
export const isLastCycle = ({ recursion, limits }: ChainState): boolean =>
  recursion.completedCycles + 1 >= limits.maxCycles;
export const isByHand = ({ mode }: ChainState): boolean => mode === 'manual';
export const isDetour = ({ detour }: ChainState): boolean => detour;

/** U10: what is over its share of the window with embeddings or by a first guess of three tokens a character is measured. */
export const isMeasured = (state: ChainState): boolean => state.hasEmbeddings || isOver(state);
export const isOver = (state: ChainState): boolean => !fits(state, 3);

function fits(state: ChainState, tokensPerChar: number): boolean {
  const chars = visibleMessages(state).reduce((sum, { content }) => sum + content.length, 0);
  return chars * tokensPerChar <= state.contextWindowTokens * state.thresholds.windowShare;
}

/** U7, U10: a model rates what it can be shown; how many tokens a character has is known from what was measured last. */
export const isShown = (state: ChainState): boolean => fits(state, state.tokensPerChar);
export const isShownAsMeasured = (state: ChainState): boolean => fits(state, 1 / 3);

/** U5: the model is asked for summaries exactly where some are planned, and there is a call left for it, and room. */
export function isSummarised(state: ChainState, there: string): boolean {
  const { evaluation, limits, usage } = state;
  const isPlanned = evaluation?.operations.some(({ operation }) => operation === 'TRANSFORM') === true;
  return (
    (there === 'understanding.summarizing') ===
    (isPlanned && limits.maxModelCalls - usage.modelCalls > 1 && isShown(state))
  );
}

/** Y2: by which rule the cycles ended. */
export const endedBy =
  (rule: DecisionRule) =>
  ({ interruption, decision }: ChainState): boolean =>
    interruption === null && decision?.rule === rule;

/** Y6: each cycle is counted, whoever says where the next begins. */
export const isNextCycle = (after: ChainState, _: string, before: ChainState): boolean =>
  after.recursion.cycle === before.recursion.cycle + 1;

/** Y2: of an answer that is the same. */
export const isConverged = ({ thresholds, recursion }: ChainState): boolean =>
  recursion.completedCycles > 0 && thresholds.change > 0;
