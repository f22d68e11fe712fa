import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import {
  failByError,
  finishPhase,
  modelUnavailable,
  phaseMayBeSkipped,
  phaseMayRepeat,
  timeOutPhase,
} from '../../../machines/policies/outcomes.ts';
import { enterPhase, repeatPhase, skipPhase } from '../../../machines/policies/progress.ts';
import { deadlines } from '../../../machines/policies/usage.ts';
import {
  aFailure,
  anAttempt,
  anExecution,
  aPhaseFailure,
  aState,
  deepFreeze,
  failed,
  someLimits,
} from '../../support/contract-samples.ts';

const stateAfter = (phase: (typeof PHASES)[number], changes: Parameters<typeof failed>[0] = {}) => {
  const state = deepFreeze(aState({ recursion: { step: 4 } }));
  return { ...state, ...finishPhase(state, phase, failed(changes)) };
};

describe('a failed phase', () => {
  it('[Y9] is retried as often as configured unless a retry is pointless', () => {
    const state = stateAfter('intention');
    expect(phaseMayRepeat(state)).toEqual({
      holds: true,
      inputs: { retryable: true, phaseRetries: 0, maxPhaseRetries: 1 },
    });
    expect(phaseMayRepeat({ ...state, ...repeatPhase(state) }).holds).toBe(false);
    expect(phaseMayRepeat({ ...state, limits: someLimits({ maxPhaseRetries: 0 }) }).holds).toBe(false);
    expect(phaseMayRepeat(stateAfter('intention', { retryable: false })).holds).toBe(false);
    expect(phaseMayRepeat(aState()).holds).toBe(false);
  });

  it.each(PHASES)('[Y9] can be skipped unless it is Yield: %s', (phase) => {
    expect(phaseMayBeSkipped(stateAfter(phase)).holds).toBe(phase !== 'yield');
  });

  it('[Y9] is followed by the next phase with a reset retry count when it is skipped', () => {
    const skipped = skipPhase({ ...stateAfter('intention'), phaseRetries: 1 });
    expect(skipped).toEqual({ direction: 'observation', phaseRetries: 0 });
  });

  it('[Y9] ends the run only if the model cannot be reached', () => {
    expect(modelUnavailable(stateAfter('action', { stage: 'transport' })).holds).toBe(true);
    for (const stage of ['schema', 'deadline', 'unexpected'] as const)
      expect(modelUnavailable(stateAfter('action', { stage })).holds).toBe(false);
    expect(modelUnavailable(aState()).holds).toBe(false);
  });

  it('[Y9] [C4] reports the failure of the model that replied, not that of the unreachable fallback', () => {
    const gone = aFailure({ stage: 'transport', code: 'gone' });
    const wrong = aFailure({ stage: 'schema', code: 'wrong' });
    const late = aFailure({ stage: 'deadline', code: 'late' });
    const afterCalls = (...calls: [model: number, failure: Failure][]) => {
      const execution = anExecution({ attempts: calls.map(([model, failure]) => anAttempt({ model, failure })) });
      const failure = calls.at(-1)?.[1] ?? gone;
      return { ...aState(), ...finishPhase(aState(), 'action', { ok: false, failure, execution }) };
    };
    const codeAfter = (...calls: Parameters<typeof afterCalls>) => afterCalls(...calls).failure?.failure.code;
    expect(codeAfter([0, gone], [1, gone])).toBe('gone');
    expect(codeAfter([0, wrong], [1, gone], [2, gone])).toBe('wrong');
    expect(codeAfter([0, gone], [1, wrong], [2, gone])).toBe('wrong');
    expect(codeAfter([0, gone], [1, wrong]), 'the last one answered').toBe('wrong');
    expect(codeAfter([0, wrong], [0, gone]), 'one model, and now it is gone').toBe('gone');
    expect(codeAfter([0, wrong], [1, late])).toBe('late');
    expect(modelUnavailable(afterCalls([0, wrong], [1, gone])).holds).toBe(false);
  });

  it('[C3] leaves the context unchanged and is recorded with its cycle', () => {
    const state = stateAfter('experience');
    expect(state.messages).toEqual(aState().messages);
    expect(state.envelope).toEqual(aState().envelope);
    expect(state.failures).toEqual([aPhaseFailure('experience')]);
    expect(state).toMatchObject({ failure: { phase: 'experience', cycle: 1 }, direction: 'experience' });
  });

  it('[C8] that exceeded its deadline names the deadline and may be retried', () => {
    const state = { ...aState(), ...timeOutPhase(aState({ limits: someLimits({ phaseMs: 250 }) }), 'action') };
    expect(state.failure?.failure).toMatchObject({ stage: 'deadline', message: expect.stringContaining('250 ms') });
    expect(phaseMayRepeat(state).holds).toBe(true);
  });

  it('[Y9] that threw is a failure, not a crash', () => {
    expect(failByError(aState(), 'action', new Error('boom')).failure?.failure.message).toBe('boom');
  });

  it('is kept in a list of the newest 16 failures and cleared for the next phase', () => {
    let state = aState();
    for (let at = 0; at < 40; at += 1) state = { ...state, ...failByError(state, 'action', new Error(`no ${at}`)) };
    expect(state.failures.length).toBe(16);
    expect(state.failures.at(-1)?.failure.message).toBe('no 39');
    expect(enterPhase(state, 'action')).toMatchObject({ failure: null, recursion: { step: 1 } });
  });
});

it('[C8] [E9] the deadlines of a run leave time for the answer and add up to the total', () => {
  const ms = fc.integer({ min: 1, max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(ms, ms, ms, fc.constantFrom(null, 'u42'), (totalMs, synthesisMs, sessionMs, sessionId) => {
      const kept = deadlines({
        limits: someLimits({ totalMs, synthesisMs, sessionMs }),
        sessionId,
        interruption: null,
      });
      expect(kept.runMs + kept.synthesisMs + kept.sessionMs).toBeCloseTo(totalMs, 3);
      expect(kept.runMs).toBeGreaterThan(0);
      expect(kept.synthesisMs).toBeGreaterThan(0);
      expect(kept.synthesisMs).toBeLessThanOrEqual(synthesisMs);
      expect(kept.sessionMs).toBeLessThanOrEqual(sessionMs);
      expect(kept.sessionMs > 0).toBe(sessionId !== null);
    }),
  );
});
