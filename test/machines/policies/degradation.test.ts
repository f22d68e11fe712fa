import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { missingFields, shortfallsOf, ttlExhausted } from '../../../machines/policies/synthesis/compose.ts';
import { synthesisInput } from '../../../machines/policies/synthesis/input.ts';
import { composedOutcome } from '../../../machines/policies/synthesis/outcome.ts';
import { readSynthesisInput } from '../../../machines/policies/synthesis/read-input.ts';
import { answerOf } from '../../../machines/policies/synthesis/writing.ts';
import { aDecision, anAssessment, aPhaseFailure, aState, results } from '../../support/contract-samples.ts';

const complete = aState({
  results,
  assessment: anAssessment(),
  decision: aDecision(),
  recursion: { cycle: 1, completedCycles: 1 },
});
const withoutExperience = complete.steps.filter(({ phase }) => phase !== 'experience');
const ofCycles = (completedCycles: number) => ({ recursion: { ...complete.recursion, completedCycles } });
const goingOn = aDecision({ rule: 'nextPhaseChosen', complete: false, nextPhase: 'action' });
const read = (state: ChainState) => readSynthesisInput(synthesisInput(state));
const reasons = (changes: Partial<ChainState>) =>
  shortfallsOf(read({ ...complete, ...changes }), composedOutcome('')).map(({ reason }) => reason);

/** The order of reasons, each as a change to a complete state, highest rank first. */
const INCOMPLETE = { interruption: { kind: 'phase_failed' } } as const;
const TTL = { decision: aDecision({ rule: 'cycleLimitReached' }) };
const ZERO = ofCycles(0);

describe('degradation reasons', () => {
  it('[E5] are empty for a complete run', () => {
    expect(reasons({})).toEqual([]);
    expect(missingFields(read(complete))).toEqual([]);
  });

  it.each([
    ['incomplete state before TTL', { ...INCOMPLETE, ...TTL }, 'incomplete_state', 'ttl_exhausted'],
    ['incomplete state before zero passes', { ...INCOMPLETE, ...ZERO }, 'incomplete_state', 'zero_passes'],
    ['TTL before zero passes', { ...TTL, ...ZERO }, 'ttl_exhausted', 'zero_passes'],
    [
      'TTL before not converged',
      { ...TTL, decision: aDecision({ ...TTL.decision, complete: false }) },
      'ttl_exhausted',
      'not_converged',
    ],
    ['zero passes before not converged', { ...ZERO, decision: null }, 'zero_passes', 'not_converged'],
    [
      'incomplete state before not converged',
      { ...INCOMPLETE, decision: goingOn },
      'incomplete_state',
      'not_converged',
    ],
  ] as const)('[E5] rank %s', (_, changes, first, second) => {
    const found = reasons(changes);
    expect(found[0]).toBe(first);
    expect(found).toContain(second);
    expect(answerOf({ ...complete, ...changes }).metadata.reason).toBe(first);
  });

  it('[E5] are listed in order when all four apply', () => {
    const decision = aDecision({ rule: 'cycleLimitReached', complete: false });
    expect(reasons({ ...INCOMPLETE, ...ZERO, decision })).toEqual([
      'incomplete_state',
      'ttl_exhausted',
      'zero_passes',
      'not_converged',
    ]);
  });

  it('[E5] rank a failed and skipped phase as an incomplete state, before TTL', () => {
    const skipped = { steps: withoutExperience, failures: [aPhaseFailure('experience')], ...TTL };
    expect(reasons(skipped)).toEqual(['incomplete_state', 'ttl_exhausted', 'not_converged']);
  });

  it('[E3] [E5] mark a complete run without an answer as degraded', () => {
    const reply = { ...results.yield.reply, answer: '' };
    const empty = aState({
      results: { ...aState().results, yield: { ...results.yield, reply } },
      assessment: anAssessment({ answer: '', taskComplete: true }),
      decision: aDecision({ rule: 'taskComplete' }),
      recursion: { completedCycles: 1 },
    });
    expect(answerOf(empty)).toMatchObject({ status: 'degraded', metadata: { degraded: true } });
  });

  it('[E5] include "not converged" for a run that ended early and lacks nothing else', () => {
    const interruption = { kind: 'finished_by_user' } as const;
    expect(reasons({ interruption, decision: goingOn })).toEqual(['not_converged']);
  });

  it('[E5] include TTL when the cycle limit ended the run, and the answer notes it', () => {
    expect(ttlExhausted(read(complete))).toBe(false);
    expect(ttlExhausted(read({ ...complete, ...TTL }))).toBe(true);
    const answer = answerOf({ ...complete, ...TTL, ...ofCycles(5) });
    expect(answer).toMatchObject({ ttlExhausted: true, status: 'degraded', metadata: { reason: 'ttl_exhausted' } });
    expect(answer.notes).toContain('TTL exhausted');
  });

  it.each([
    ['budgetExhausted', 'budget_exhausted'],
    ['loopDetected', 'loop_detected'],
  ] as const)('[E3] [E5] for a run ended by %s include %s', (rule, reason) => {
    expect(reasons({ decision: aDecision({ rule }) })).toContain(reason);
  });

  it('[E5] list the missing fields: phases without a result, and the answer', () => {
    expect(missingFields(read(aState()))).toEqual([...PHASES, 'answer']);
    expect(missingFields(read({ ...complete, steps: withoutExperience }))).toEqual(['experience']);
    expect(missingFields(read({ ...complete, assessment: anAssessment({ answer: ' \n' }) }))).toEqual(['answer']);
  });
});
