import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import {
  type AnswerMaterial,
  type AnswerReason,
  explanationOf,
  type SynthesisOutcome,
} from '../../../../machines/contracts/synthesis.ts';
import { type AnswerBasis, basisOf } from '../../../../machines/policies/synthesis/basis.ts';
import {
  composeAnswer,
  composedOutcome,
  failedOutcome,
  missingFields,
} from '../../../../machines/policies/synthesis/compose.ts';
import { answerOf } from '../../../../machines/policies/synthesis/value.ts';
import { aBasis } from '../../../support/answer-basis.ts';
import { aDecision, anAssessment, aPhaseFailure, aState, results } from '../../../support/contract-samples.ts';

/** A change to a complete run that causes one reason. */
interface Condition {
  readonly reason: AnswerReason['code'];
  readonly changes?: Partial<AnswerBasis>;
  readonly material?: Partial<AnswerMaterial>;
  readonly written?: SynthesisOutcome;
}

/** Every degradation reason with a cause, highest rank first. */
const CONDITIONS: readonly Condition[] = [
  { reason: 'cancelled', changes: { interruption: { kind: 'cancelled', reason: 'enough' } } },
  { reason: 'interrupted', changes: { interruption: { kind: 'interrupted', reason: '' } } },
  { reason: 'model_unavailable', changes: { interruption: { kind: 'model_unavailable' } } },
  { reason: 'incomplete_state', changes: { failures: [aPhaseFailure('experience')] } },
  { reason: 'deadline_passed', changes: { interruption: { kind: 'deadline' } } },
  { reason: 'budget_exhausted', changes: { interruption: { kind: 'budget' } } },
  { reason: 'prose_replies', changes: { prosePhases: ['yield'] } },
  { reason: 'decider_failed', changes: { deciderProblem: 'it broke' } },
  { reason: 'search_failed', changes: { sourceFailure: 'it is down' } },
  { reason: 'capability_failed', changes: { failedCapabilities: [{ name: 'lookup', error: 'it is down' }] } },
  { reason: 'rounds_ended', changes: { endedRounds: { runs: 1, limit: 5, stopReason: 'limit_reached' } } },
  { reason: 'no_evidence', changes: { noEvidence: true } },
  { reason: 'cycle_limit_reached', changes: { cyclesLeft: 0 } },
  { reason: 'zero_passes', material: { cycles: 0 } },
  { reason: 'loop_detected', changes: { decision: aDecision({ rule: 'loopDetected' }) } },
  { reason: 'not_converged', material: { converged: false } },
  { reason: 'context_over_limit', changes: { excessTokens: 7 } },
  { reason: 'synthesis_failed', written: failedOutcome('model', 'it timed out') },
  { reason: 'low_confidence', material: { draft: { ...aBasis().material.draft, confidence: 0.5 } } },
];

const answerTo = (...conditions: readonly Condition[]) => {
  const changes = Object.assign({}, ...conditions.map((one) => one.changes));
  const material = Object.assign({}, ...conditions.map((one) => one.material));
  const written = conditions.find((one) => one.written)?.written ?? composedOutcome('');
  return composeAnswer(aBasis(changes, material), written);
};

/** Two causes can be combined unless both say how the run ended. */
const pairs = CONDITIONS.flatMap((first, at) =>
  CONDITIONS.slice(at + 1)
    .filter(({ changes }) => !(changes?.interruption && first.changes?.interruption))
    .filter(({ reason }) => !(first.reason === 'model_unavailable' && reason === 'incomplete_state'))
    // The confidence of an answer that says nothing does not count.
    .filter(({ reason }) => !(first.reason === 'no_evidence' && reason === 'low_confidence'))
    .map((second) => ({ weightier: first.reason, lighter: second.reason, first, second })),
);

describe('degradation reasons', () => {
  it('[E5] are absent for a complete run', () => {
    expect(answerTo()).toMatchObject({ status: 'completed', notes: '', metadata: { degraded: false, reason: null } });
  });

  it.each(CONDITIONS)('[E3] [E5] equal $reason when nothing else applies', (condition) => {
    const { status, answerText, reasons, metadata, notes } = answerTo(condition);
    expect(metadata).toMatchObject({ degraded: true, reason: condition.reason });
    expect(status).toBe(condition.reason === 'cancelled' ? 'cancelled' : 'degraded');
    expect(answerText).toBe('In 1932.');
    expect(notes).toBe(explanationOf({ reasons }));
    expect(notes).not.toBe('');
  });

  it.each(pairs)('[E5] rank $weightier before $lighter and report both', ({ first, second, weightier }) => {
    const both = answerTo(first, second);
    expect(answerTo(second, first)).toEqual(both);
    expect(both.metadata.reason).toBe(weightier);
    const [one, other] = [answerTo(first), answerTo(second)].map(explanationOf);
    expect(explanationOf(both)).toBe(`${one} ${other}`);
  });

  it('[E5] include TTL when no cycle is left or the cycle limit ended the run', () => {
    const decision = aDecision({ rule: 'cycleLimitReached' });
    expect(answerTo({ reason: 'cycle_limit_reached', changes: { decision } })).toMatchObject({
      ttlExhausted: true,
      notes: 'The limit of 5 cycles was reached.',
    });
    const limits = { ...aBasis().limits, maxCycles: null };
    expect(answerTo({ reason: 'cycle_limit_reached', changes: { cyclesLeft: 0, limits } })).toMatchObject({
      ttlExhausted: true,
      notes: 'All cycles were used up.',
    });
  });

  it('[E3] [E5] distinguish an incomplete run from one with zero passes', () => {
    const nothing = { steps: [], draft: { ...aBasis().material.draft, text: '' } };
    const answer = (material: Partial<AnswerMaterial>) =>
      composeAnswer(aBasis({ answer: undefined, phases: [] }, { ...nothing, ...material }), composedOutcome(''));
    expect(answer({})).toMatchObject({
      answerText: 'No answer was reached. There are no results to answer from.',
      confidence: 0,
      metadata: { reason: 'incomplete_state', missingFields: ['answer'] },
    });
    expect(answer({ cycles: 0 })).toMatchObject({
      answerText: 'No answer was reached. No cycle was completed.',
      metadata: { reason: 'zero_passes' },
    });
  });
});

describe('degradation reasons of a chain', () => {
  const complete = aState({
    results,
    assessment: anAssessment({ confidence: 0.95 }),
    decision: aDecision(),
    recursion: { cycle: 1, completedCycles: 1 },
  });
  const withoutExperience = complete.steps.filter(({ phase }) => phase !== 'experience');
  const reasons = (changes: Partial<typeof complete>) =>
    answerOf({ ...complete, ...changes }).reasons.map(({ code }) => code);
  const missing = (changes: Partial<typeof complete>) => missingFields(basisOf({ ...complete, ...changes }));

  it.each<[string, Partial<typeof complete>, readonly AnswerReason['code'][]]>([
    [
      'count a skipped phase as an incomplete state',
      { steps: withoutExperience, failures: [aPhaseFailure('experience')] },
      ['incomplete_state'],
    ],
    [
      'include "not converged" for a run that ended early and lacks nothing else',
      {
        interruption: { kind: 'finished_by_user' },
        decision: aDecision({ rule: 'nextPhaseChosen', complete: false, nextPhase: 'action' }),
      },
      ['not_converged'],
    ],
    [
      'include the budget, and a low confidence',
      { assessment: anAssessment(), decision: aDecision({ rule: 'budgetExhausted' }) },
      ['budget_exhausted', 'not_converged', 'low_confidence'],
    ],
    ['include the loop', { decision: aDecision({ rule: 'loopDetected' }) }, ['loop_detected', 'not_converged']],
    [
      'count an empty answer as an incomplete state',
      { assessment: anAssessment({ answer: '', confidence: 0.95 }) },
      ['incomplete_state'],
    ],
  ])('[E3] [E5] %s', (_, changes, expected) => {
    expect(reasons(changes)).toEqual(expected);
    expect(answerOf({ ...complete, ...changes }).metadata.reason).toBe(expected[0] ?? null);
  });

  it('[E5] list what is missing: phases without a result, and the answer', () => {
    expect(missing({})).toEqual([]);
    expect(missing({ steps: withoutExperience })).toEqual(['experience']);
    expect(missing({ assessment: anAssessment({ answer: ' \n' }) })).toEqual(['answer']);
    expect(missingFields(basisOf(aState()))).toEqual([...PHASES, 'answer']);
  });
});
