import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import type { GuardResult } from '../../../machines/contracts/decision.ts';
import {
  answerConverged,
  budgetExhausted,
  confidenceReached,
  cycleLimitReached,
  taskComplete,
} from '../../../machines/policies/yield-rules.ts';
import { anAssessment, aState, deepFreeze, someLimits, someThresholds } from '../../support/contract-samples.ts';

type Changes = Parameters<typeof aState>[0];
const ofCycles = (completedCycles: number) => ({ recursion: { completedCycles } });
const usage = (modelCalls: number, inputTokens: number, outputTokens: number) => ({
  usage: { modelCalls, inputTokens, outputTokens, estimated: false, cost: null },
});
const limits = someLimits({ maxTokens: 100, maxModelCalls: 7 });
const confident = (confidence: number) => ({ assessment: anAssessment({ confidence }) });
const changed = (completedCycles: number, change: number | null) => ({
  ...ofCycles(completedCycles),
  assessment: anAssessment({ change }),
});

const cases: readonly [string, (state: ChainState) => GuardResult, Changes, boolean][] = [
  ['[Y1] [Y2] is not at the limit after four of five cycles', cycleLimitReached, ofCycles(4), false],
  ['[Y1] [Y2] reaches the limit after five of five cycles', cycleLimitReached, ofCycles(5), true],
  [
    '[Y2] uses the configured cycle limit',
    cycleLimitReached,
    { ...ofCycles(1), limits: someLimits({ maxCycles: 1 }) },
    true,
  ],
  ['[Y2] does not exhaust a budget with one token left', budgetExhausted, { limits, ...usage(6, 60, 39) }, false],
  [
    '[Y2] counts input and output tokens together against the budget',
    budgetExhausted,
    { limits, ...usage(1, 60, 40) },
    true,
  ],
  ['[Y2] counts calls against the budget', budgetExhausted, { limits, ...usage(7, 1, 1) }, true],
  ['[Y2] is not confident at exactly 0.9', confidenceReached, confident(0.9), false],
  ['[Y1] [Y2] is confident just above 0.9', confidenceReached, confident(0.9000001), true],
  ['[Y2] is not confident without an answer', confidenceReached, {}, false],
  ['[Y2] cannot converge after one cycle', answerConverged, changed(1, 0), false],
  ['[Y1] [Y2] has converged after two cycles with a change just below 0.1', answerConverged, changed(2, 0.0999), true],
  ['[Y2] has not converged with a change of exactly 0.1', answerConverged, changed(2, 0.1), false],
  [
    '[Y13] has not converged with a change of exactly 0.1 computed from 0.9',
    answerConverged,
    changed(2, 1 - 9 / 10),
    false,
  ],
  ['[Y13] has converged with a change below 0.1 in the ninth decimal', answerConverged, changed(2, 0.099999999), true],
  ['[Y13] is not confident at 0.9 as a sum', confidenceReached, confident(0.3 + 0.6000000000000001), false],
  ['[Y2] cannot converge without a previous answer', answerConverged, changed(3, null), false],
  [
    '[Y1] [Y2] accepts a task reported as complete',
    taskComplete,
    { assessment: anAssessment({ taskComplete: true }) },
    true,
  ],
  ['[Y2] does not accept a complete task without an answer', taskComplete, {}, false],
  ['[Y2] does not accept a task that is not reported as complete', taskComplete, { assessment: anAssessment() }, false],
  [
    '[Y2] uses the configured thresholds',
    confidenceReached,
    { ...confident(0.6), thresholds: someThresholds({ confidence: 0.5 }) },
    true,
  ],
];

describe('completing a run', () => {
  it.each(cases)('%s', (_, rule, changes, wanted) => {
    expect(rule(deepFreeze(aState(changes))).holds).toBe(wanted);
  });

  it('[Y8] records the compared numbers of each rule', () => {
    const state = aState({ ...changed(2, 0.25), limits, ...usage(3, 20, 10) });
    expect(cycleLimitReached(state).inputs).toEqual({ completedCycles: 2, maxCycles: 5 });
    expect(budgetExhausted(state).inputs).toEqual({ tokens: 30, maxTokens: 100, modelCalls: 3, maxModelCalls: 7 });
    expect(confidenceReached(state).inputs).toEqual({
      confidence: 0.5,
      above: 0.9,
      modelConfidence: 0.5,
      grounding: null,
    });
    expect(answerConverged(state).inputs).toEqual({ completedCycles: 2, change: 0.25, below: 0.1 });
    expect(taskComplete(state).inputs).toEqual({
      taskComplete: false,
      claimsCompletion: false,
      claim: null,
      satisfaction: 0.1,
    });
  });
});
