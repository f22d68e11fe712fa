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
import { deepFreeze } from './deep-freeze.ts';
import { anAssessment, aState, someLimits, someThresholds } from './states.ts';

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
  ['[Y1] [Y2] four of five cycles are below the limit', cycleLimitReached, ofCycles(4), false],
  ['[Y1] [Y2] five of five cycles are the limit', cycleLimitReached, ofCycles(5), true],
  [
    '[Y2] the limit of cycles is configurable',
    cycleLimitReached,
    { ...ofCycles(1), limits: someLimits({ maxCycles: 1 }) },
    true,
  ],
  ['[Y2] a budget with a token left is not exhausted', budgetExhausted, { limits, ...usage(6, 60, 39) }, false],
  [
    '[Y2] a budget is exhausted by input and output tokens together',
    budgetExhausted,
    { limits, ...usage(1, 60, 40) },
    true,
  ],
  ['[Y2] a budget is exhausted by the number of calls', budgetExhausted, { limits, ...usage(7, 1, 1) }, true],
  ['[Y2] an answer at exactly 0.9 is not confident enough', confidenceReached, confident(0.9), false],
  ['[Y1] [Y2] an answer just above 0.9 is confident enough', confidenceReached, confident(0.9000001), true],
  ['[Y2] no answer is not confident', confidenceReached, {}, false],
  ['[Y2] one cycle cannot converge', answerConverged, changed(1, 0), false],
  ['[Y1] [Y2] two cycles with a change just below 0.1 have converged', answerConverged, changed(2, 0.0999), true],
  ['[Y2] a change of exactly 0.1 has not converged', answerConverged, changed(2, 0.1), false],
  ['[Y2] without an answer before there is nothing to converge', answerConverged, changed(3, null), false],
  [
    '[Y1] [Y2] a task said to be complete is complete',
    taskComplete,
    { assessment: anAssessment({ taskComplete: true }) },
    true,
  ],
  ['[Y2] a task without an answer is not complete', taskComplete, {}, false],
  ['[Y2] a task not said to be complete is not', taskComplete, { assessment: anAssessment() }, false],
  [
    '[Y2] the thresholds are configurable',
    confidenceReached,
    { ...confident(0.6), thresholds: someThresholds({ confidence: 0.5 }) },
    true,
  ],
];

describe('whether a run is complete', () => {
  it.each(cases)('%s', (_, rule, changes, wanted) => {
    expect(rule(deepFreeze(aState(changes))).holds).toBe(wanted);
  });

  it('[Y8] each rule shows the numbers it compared', () => {
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

  it('[E9] the reserve for the answer is no part of what the phases may use', () => {
    const exhausted = aState({
      limits: someLimits({ maxTokens: 100, synthesisReserveTokens: 50 }),
      ...usage(1, 60, 40),
    });
    expect(budgetExhausted(exhausted)).toMatchObject({ holds: true, inputs: { maxTokens: 100 } });
  });
});
