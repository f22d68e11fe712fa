import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContinueDecision } from '../../../machines/contracts/chain-state.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { appendToHistory, decideToContinue } from '../../../machines/policies/decisions.ts';
import { countRepeats, loopDetected } from '../../../machines/policies/yield-rules.ts';
import { anAssessment, aState, deepFreeze, someThresholds } from '../../support/contract-samples.ts';

const turn: fc.Arbitrary<ContinueDecision> = fc.record({
  cycle: fc.nat(100),
  target: fc.constantFrom(...PHASES),
  fingerprint: fc.constantFrom('a', 'b', 'c'),
});

describe('loops', () => {
  it('[Y7] are the same target with the same content, regardless of when they occurred', () => {
    const history: readonly ContinueDecision[] = [
      { cycle: 1, target: 'experience', fingerprint: 'a' },
      { cycle: 2, target: 'action', fingerprint: 'a' },
      { cycle: 3, target: 'experience', fingerprint: 'b' },
    ];
    expect(countRepeats(history, { target: 'experience', fingerprint: 'a' })).toBe(1);
    expect(countRepeats(history, { target: 'experience', fingerprint: 'c' })).toBe(0);
    expect(countRepeats(history, { target: 'intention', fingerprint: 'a' })).toBe(0);
  });

  it('[Y7] are counted correctly in any history', () => {
    fc.assert(
      fc.property(fc.array(turn), turn, (history, next) => {
        let count = 0;
        for (const one of history) if (one.target === next.target && one.fingerprint === next.fingerprint) count += 1;
        expect(countRepeats(deepFreeze(history), next)).toBe(count);
      }),
    );
  });

  it.each([
    [0, 2, false],
    [1, 2, true],
    [1, 3, false],
    [2, 3, true],
  ])('[Y7] with %d earlier turns and a limit of %d are detected: %s', (repeats, bound, holds) => {
    const thresholds = someThresholds({ loopRepeats: bound });
    const result = loopDetected(aState({ assessment: anAssessment({ repeats }), thresholds }));
    expect(result).toEqual({ holds, inputs: { repeats, loopRepeats: bound } });
  });

  it('[Y7] are not reported for a run without an assessment', () => {
    expect(loopDetected(aState()).holds).toBe(false);
  });

  it('[Y7] are found in a history of only the newest 64 turns', () => {
    fc.assert(
      fc.property(fc.array(turn, { maxLength: 200, size: 'max' }), (turns) => {
        const kept = turns.reduce<readonly ContinueDecision[]>(
          (history, one) => appendToHistory(deepFreeze(history), one),
          [],
        );
        expect(kept).toEqual(turns.slice(-64));
      }),
    );
  });

  it('[Y11] (policy part) are detected at turn 1,000 by reading as much as at turn 100', () => {
    let looks = 0;
    const watched = (history: readonly ContinueDecision[]) =>
      new Proxy(history, {
        get(all, key, receiver) {
          looks += 1;
          return Reflect.get(all, key, receiver);
        },
      });
    const looksAt = (turns: number) => {
      let state = aState({ assessment: anAssessment() });
      for (let at = 0; at < turns; at += 1) {
        const assessment = anAssessment({ fingerprint: `f${at}` });
        state = { ...state, assessment, ...decideToContinue({ ...state, assessment }, 'nextPhaseChosen', 'action') };
      }
      looks = 0;
      const recursion = { ...state.recursion, history: watched(state.recursion.history) };
      countRepeats(recursion.history, { target: 'action', fingerprint: 'f' });
      decideToContinue({ ...state, recursion }, 'nextPhaseChosen', 'action');
      expect(state.recursion.cycle).toBe(turns + 1);
      return looks;
    };
    const early = looksAt(100);
    expect(early).toBeGreaterThan(0);
    expect(looksAt(1_000)).toBe(early);
  });
});
