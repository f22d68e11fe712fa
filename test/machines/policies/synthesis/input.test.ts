import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';
import { synthesisInput } from '../../../../machines/policies/synthesis/input.ts';
import { modelMayWrite } from '../../../../machines/policies/synthesis/writing.ts';
import { chainStateArbitrary } from '../../../support/arbitraries.ts';
import { aDecision, anAssessment, aState, deepFreeze, results, someLimits } from '../../../support/contract-samples.ts';

const done = aState({
  results,
  assessment: anAssessment({ change: 0.05, confidence: 0.95 }),
  decision: aDecision(),
  decisions: [aDecision()],
  corrections: 2,
  recursion: { cycle: 2, completedCycles: 2, continuationPrompt: 'Answer again.' },
});
const endedBy = (rule: Parameters<typeof aDecision>[0]) => synthesisInput({ ...done, decision: aDecision(rule) });

describe('the input of synthesis', () => {
  it('[E1] [E6] matches its contract in any state, survives JSON, and does not mutate the state', () => {
    fc.assert(
      fc.property(chainStateArbitrary, (state) => {
        const before = structuredClone(state);
        const input = synthesisInput(deepFreeze(state));
        expect(synthesisInputSchema.parse(JSON.parse(JSON.stringify(input)))).toEqual(input);
        expect(state).toEqual(before);
      }),
    );
  });

  it('[E1] contains the results of the run', () => {
    expect(synthesisInput(done)).toMatchObject({
      request: done.request,
      executionResults: [
        { stepId: 's1', phase: 'action', content: 'It was 1932.\na draft' },
        { stepId: 's2', phase: 'experience', content: 'The papers say 1932.' },
        { stepId: 's3', phase: 'intention', content: 'the year of opening' },
        { stepId: 's4', phase: 'observation', content: '1932 is named twice' },
        { stepId: 's5', phase: 'understanding', content: 'Opened in 1932.' },
        { stepId: 's6', phase: 'yield', content: 'In 1932.' },
      ],
      planState: { goal: 'the year of opening', alternatives: ['the year of design'] },
      convergenceAssessment: { change: 0.05, confidence: 0.95, rationale: aDecision().rationale },
      executionPasses: [{ cycle: 1, rule: aDecision().rule, nextPhase: null, rationale: aDecision().rationale }],
      taskProfile: { currentTask: 'Answer again.', clarity: 0.9 },
      correlationId: 'r1',
      executionStartTimestamp: '2023-11-14T22:13:20.000Z',
      convergenceStatus: true,
      totalPasses: 2,
      totalRefinements: 2,
      ttlRemaining: 3,
      run: { draft: { text: 'In 1932.', confidence: 0.95, usedMessageIds: ['p1'] }, answer: 'In 1932.' },
    });
  });

  it('[E1] [E3] is complete for a run without results too', () => {
    expect(synthesisInput(aState())).toMatchObject({
      executionResults: [],
      planState: { goal: null, alternatives: [] },
      convergenceAssessment: { change: null, confidence: 0 },
      convergenceStatus: false,
      totalPasses: 0,
      ttlRemaining: 5,
      run: { draft: { text: '' }, answer: null, elapsedMs: 0 },
    });
  });

  it('[E1] is converged for a run that completed by a rule, but not for one that reached its cycle limit', () => {
    for (const rule of ['confidenceReached', 'answerConverged', 'taskComplete'] as const)
      expect(endedBy({ rule }).convergenceStatus).toBe(true);
    expect(endedBy({ rule: 'cycleLimitReached' }).convergenceStatus).toBe(false);
    expect(endedBy({ rule: 'nextPhaseChosen', complete: false }).convergenceStatus).toBe(false);
  });

  it.each(['budgetExhausted', 'loopDetected'] as const)('[E1] is not converged for a run that %s ended', (rule) => {
    expect(endedBy({ rule }).convergenceStatus).toBe(false);
  });
});

describe('calling a model for the answer', () => {
  it.each([
    ['a reserve is kept', {}, true],
    ['the reserve is zero', { limits: someLimits({ synthesisReserveTokens: 0 }) }, false],
    ['the user canceled', { interruption: { kind: 'cancelled', reason: '' } }, false],
    ['the host interrupted the run', { interruption: { kind: 'interrupted', reason: '' } }, false],
    ['the model is unavailable', { interruption: { kind: 'model_unavailable' } }, false],
    ['the phases used up their budget', { interruption: { kind: 'budget' } }, true],
    ['the phase deadline passed', { interruption: { kind: 'deadline' } }, true],
    ['the user requested the answer now', { interruption: { kind: 'finished_by_user' } }, true],
  ] as const)('[E9] depends on whether %s', (_, changes, wanted) => {
    expect(modelMayWrite(aState(changes)).holds).toBe(wanted);
  });
});
