import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContinueDecision } from '../../../machines/contracts/chain-state.ts';
import { assess } from '../../../machines/policies/assessment.ts';
import { decideToContinue } from '../../../machines/policies/decisions.ts';
import { loopDetected } from '../../../machines/policies/yield-rules.ts';
import { anAssessment, aState, results, someThresholds } from '../../support/contract-samples.ts';

/** Assesses an answer after earlier decisions to continue; a new cycle would begin with Action, or else with Experience. */
const assessed = (
  answer: string,
  history: readonly ContinueDecision[] = [],
  next: 'action' | 'experience' = 'action',
) =>
  assess(aState({ recursion: { history } }), [], {
    ...results.yield.reply,
    answer,
    informationSufficiency: next === 'action' ? 1 : 0,
  });
/** The decision to continue with Action after an answer. */
const continued = (answer: string, target: ContinueDecision['target'] = 'action'): ContinueDecision => {
  const { fingerprint, sketch } = assessed(answer);
  return { cycle: 1, target, fingerprint, sketch };
};
const repeatsOf = (before: string, after: string): number => assessed(after, [continued(before)]).repeats;

describe('loops', () => {
  it('[Y7] are the same target with the same content, regardless of when they occurred', () => {
    const history = [continued('One.', 'experience'), continued('One.'), continued('Two.', 'experience')];
    expect(assessed('One.', history, 'experience').repeats).toBe(1);
    expect(assessed('Three.', history, 'experience').repeats).toBe(0);
    expect(assessed('Two.', history).repeats).toBe(0);
  });

  const LIT = 'The lantern was lit by the keeper at dusk, as the diary of 1887 says.';
  const UNKNOWN = 'The diary does not say who lit the lantern; the keeper was ill.';

  it.each([
    [LIT, 'At dusk the keeper lit the lantern, says the 1887 diary.'],
    [UNKNOWN, 'The keeper was ill, and who lit the lantern the diary does not say.'],
    ['Die Brücke wurde 1932 vom Bürgermeister eröffnet.', 'Vom Bürgermeister wurde 1932 die Brücke eröffnet.'],
    ['地铁首班车五点半发车', '地铁首班车五点半发车。'],
  ])('[Y7] are the same target with the same content in other words: %s', (before, after) => {
    expect(assessed(after, [continued(before, 'experience')], 'experience').repeats).toBe(1);
    expect(assessed(after, [continued(before, 'experience')]).repeats).toBe(0);
  });

  it.each([
    ['a number', LIT, LIT.replace('1887', '1888')],
    ['a negation', LIT, LIT.replace('was lit', 'was not lit')],
    ['a name', `${LIT} So says Alice.`, `${LIT} So says Robert.`],
    ['one fact more', LIT, `${LIT} The wick was green.`],
    ['half of the words', LIT, 'The lantern was lit by the baker at dawn, as the letter of 1887 says.'],
    ['everything', LIT, ''],
  ])('[Y7] are not two answers that differ in %s', (_, before, after) => {
    expect(repeatsOf(before, after)).toBe(0);
  });

  const word = fc.stringMatching(/^[a-z]{4,9}$/).map((letters) => `x${letters}`);
  const saidOf = (words: readonly string[]) => `It is ${words.join(' and ')}.`;
  it('[Y7] are found for the same words in any order', () => {
    fc.assert(
      fc.property(
        fc
          .uniqueArray(word, { minLength: 1, maxLength: 300 })
          .chain((words) => fc.tuple(fc.constant(words), fc.shuffledSubarray(words, { minLength: words.length }))),
        ([words, shuffled]) => {
          expect(repeatsOf(saidOf(words), `So ${shuffled.join(', ')}.`)).toBe(1);
        },
      ),
    );
  });

  it('[Y7] are never found for an answer that grows, or that replaces a number', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(word, { minLength: 1, maxLength: 60 }),
        fc.uniqueArray(
          word.map((one) => `q${one}`),
          { minLength: 1, maxLength: 3 },
        ),
        fc.nat(9_999),
        (words, more, count) => {
          expect(repeatsOf(saidOf(words), `${saidOf(words)} ${saidOf(more)}`)).toBe(0);
          expect(repeatsOf(`${saidOf(words)} ${count}`, `${saidOf(words)} ${count + 1}`)).toBe(0);
        },
      ),
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

  it('[Y11] are detected at turn 1,000 by reading as much as at turn 100', () => {
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
      assess({ ...state, recursion }, [], results.yield.reply);
      decideToContinue({ ...state, recursion }, 'nextPhaseChosen', 'action');
      expect(state.recursion.cycle).toBe(turns + 1);
      return looks;
    };
    const early = looksAt(100);
    expect(early).toBeGreaterThan(0);
    expect(looksAt(1_000)).toBe(early);
  });
});
