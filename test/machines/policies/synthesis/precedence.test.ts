import { describe, expect, it } from 'vitest';
import type { Degradation, SynthesisOutcome } from '../../../../machines/contracts/synthesis.ts';
import { composeAnswer } from '../../../../machines/policies/synthesis/compose.ts';
import { composedOutcome, failedOutcome } from '../../../../machines/policies/synthesis/outcome.ts';
import { synthesisInputSample } from '../../../support/contract-cases.ts';
import { aDecision } from '../../../support/contract-samples.ts';

type Given = Record<string, unknown> & { readonly run: Record<string, unknown> };
const good: Given = {
  ...synthesisInputSample,
  run: { ...synthesisInputSample.run, interruption: null, failures: [] },
};
const withRun = (given: Given, run: Record<string, unknown>): Given => ({ ...given, run: { ...given.run, ...run } });
const ended = (kind: string, reason?: string) => (given: Given) => withRun(given, { interruption: { kind, reason } });

interface Condition {
  readonly reason: Degradation;
  readonly makes: (given: Given) => Given;
  /** The part of the input that it changes: two that change the same part cannot be combined. */
  readonly by: string;
  readonly written?: SynthesisOutcome;
}

/** Every degradation reason with an input field that causes it, highest rank first. */
const CONDITIONS: readonly Condition[] = [
  { reason: 'cancelled', makes: ended('cancelled', 'enough'), by: 'interruption' },
  { reason: 'interrupted', makes: ended('interrupted', ''), by: 'interruption' },
  { reason: 'model_unavailable', makes: ended('model_unavailable'), by: 'interruption' },
  { reason: 'incomplete_state', makes: (given) => ({ ...given, totalRefinements: 'many' }), by: 'totalRefinements' },
  { reason: 'deadline_passed', makes: ended('deadline'), by: 'interruption' },
  { reason: 'budget_exhausted', makes: ended('budget'), by: 'interruption' },
  { reason: 'ttl_exhausted', makes: (given) => ({ ...given, ttlRemaining: 0 }), by: 'ttlRemaining' },
  { reason: 'zero_passes', makes: (given) => ({ ...given, totalPasses: 0 }), by: 'totalPasses' },
  {
    reason: 'loop_detected',
    makes: (given) => withRun(given, { decision: aDecision({ rule: 'loopDetected' }) }),
    by: 'decision',
  },
  { reason: 'not_converged', makes: (given) => ({ ...given, convergenceStatus: false }), by: 'convergenceStatus' },
  {
    reason: 'context_over_limit',
    makes: (given) => withRun(given, { excess: { tokens: 7, messages: 0 } }),
    by: 'excess',
  },
  {
    reason: 'synthesis_failed',
    makes: (given) => given,
    by: 'writing',
    written: failedOutcome('model', 'it timed out'),
  },
];

const answerTo = (...conditions: readonly Condition[]) =>
  composeAnswer(
    conditions.reduce((given, { makes }) => makes(given), good),
    conditions.find(({ written }) => written)?.written ?? composedOutcome(''),
  );

const pairs = CONDITIONS.flatMap((first, at) =>
  CONDITIONS.slice(at + 1)
    .filter(({ by }) => by !== first.by)
    .map((second) => ({ weightier: first.reason, lighter: second.reason, first, second })),
);

describe('degradation reasons', () => {
  it('[E5] are absent for a complete run', () => {
    expect(answerTo()).toMatchObject({ status: 'completed', notes: '', metadata: { degraded: false, reason: null } });
  });

  it.each(CONDITIONS)('[E3] [E5] equal $reason when nothing else applies', (condition) => {
    const { status, answerText, metadata, notes } = answerTo(condition);
    expect(metadata).toMatchObject({ degraded: true, reason: condition.reason });
    expect(status).toBe(condition.reason === 'cancelled' ? 'cancelled' : 'degraded');
    expect(answerText).toBe('In 1932.');
    expect(notes).toBe(metadata.explanation);
    expect(notes).not.toBe('');
  });

  it.each(pairs)('[E5] rank $weightier before $lighter and report both', ({ first, second, weightier }) => {
    const both = answerTo(first, second);
    expect(answerTo(second, first)).toEqual(both);
    expect(both.metadata.reason).toBe(weightier);
    const [one, other] = [answerTo(first), answerTo(second)].map(({ metadata }) => metadata.explanation);
    expect(both.metadata.explanation).toBe(`${one} ${other}`);
  });

  it.each([
    ['ttlRemaining', 0, { ttlExhausted: true, metadata: { reason: 'ttl_exhausted' } }],
    ['ttlRemaining', undefined, { ttlExhausted: false, metadata: { reason: 'incomplete_state' } }],
    ['ttlRemaining', '0', { ttlExhausted: false, metadata: { reason: 'incomplete_state' } }],
    ['totalPasses', undefined, { metadata: { reason: 'incomplete_state', cycles: 0 } }],
    ['convergenceStatus', null, { metadata: { reason: 'incomplete_state' } }],
  ])('[E5] treat a missing or invalid field only as such: %s, %j', (field, value, wanted) => {
    const answer = composeAnswer({ ...good, [field]: value }, composedOutcome(''));
    expect(answer).toMatchObject(wanted);
    if (value === 0) return;
    expect(answer.metadata.missingFields).toEqual([field]);
    expect(answer.metadata.explanation).toMatch(
      new RegExp(`^The state of the run is incomplete: ${field}: expected [^.]+\\.$`),
    );
  });

  it('[E5] include TTL when no cycle is left or the cycle limit ended the run', () => {
    const decision = aDecision({ rule: 'cycleLimitReached' });
    expect(composeAnswer(withRun(good, { decision }), composedOutcome(''))).toMatchObject({
      ttlExhausted: true,
      notes: 'The limit of 5 cycles was reached (TTL exhausted).',
    });
    const { run, ...alone } = good;
    expect(composeAnswer({ ...alone, ttlRemaining: 0 }, composedOutcome(''))).toMatchObject({
      ttlExhausted: true,
      notes: 'All cycles were used up (TTL exhausted).',
    });
  });

  it('[E5] name the first three missing fields and count the rest', () => {
    const { metadata } = composeAnswer({}, composedOutcome(''));
    expect(metadata.missingFields).toHaveLength(11);
    expect(metadata.explanation).toMatch(/^The state of the run is incomplete: request: .+; and 7 more\. There are no/);
  });

  it('[E3] [E5] distinguish an incomplete run from one with zero passes', () => {
    const { run, ...alone } = good;
    const nothing = { ...alone, executionResults: [] };
    const passed = composeAnswer(nothing, composedOutcome(''));
    expect(passed).toMatchObject({
      answerText: 'No answer was reached. There are no results to answer from.',
      confidence: 0,
      metadata: { reason: 'incomplete_state', missingFields: ['answer'] },
    });
    expect(composeAnswer({ ...nothing, totalPasses: 0 }, composedOutcome(''))).toMatchObject({
      answerText: 'No answer was reached. No cycle was completed.',
      metadata: { reason: 'zero_passes' },
    });
  });
});
