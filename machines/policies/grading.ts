import type { ChainState } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Grading, GradingInput } from '../contracts/grading.ts';
import { clipped } from '../text/clip.ts';
import { withGrades } from './assessment.ts';
import { gradingInput } from './evidence.ts';
import { unexpectedFailure } from './failures.ts';
import { phaseDeadlineMs } from './limits.ts';
import { visibleMessages } from './progress.ts';
import { addCost, addUsage, NO_USAGE } from './usage.ts';
import { ruleResult } from './yield-rules.ts';

/** Whether the user's grader must still grade the answer: once per answer, and only while the budget lasts. */
export function gradingWanted(state: ChainState): GuardResult {
  const isToGrade = state.assessment?.toGrade ?? false;
  const isBudgetSpent = ruleResult(state, 'budgetExhausted').holds;
  return { holds: isToGrade && !isBudgetSpent, inputs: { isToGrade, isBudgetSpent } };
}

/** Returns what the user's grader judges: of the evidence, only ids and contents. */
export function answerToGrade(state: ChainState): GradingInput {
  const reply = state.results.yield?.reply ?? { answer: '', rationale: '', taskComplete: false };
  const input = gradingInput(state, visibleMessages(state), reply);
  return { ...input, evidence: input.evidence.map(({ id, content }) => ({ id, content })) };
}

/** Assesses the answer again with the grades of the user's grader, and charges the usage of a judge. */
export function settleGrading(state: ChainState, { grades, problem, usage }: Grading): Partial<ChainState> {
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

/** Returns the result of a grader that took longer than the deadline of Yield. */
export function ungradedInTime({ limits, phase }: ChainState): Grading {
  const problem = `it did not finish within ${phaseDeadlineMs(limits, phase)} ms`;
  return { grades: {}, problem, usage: NO_USAGE };
}
