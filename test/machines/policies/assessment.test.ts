import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContinueDecision } from '../../../machines/contracts/chain-state.ts';
import { assessmentSchema } from '../../../machines/contracts/decision.ts';
import type { YieldReply } from '../../../machines/contracts/phase-io.ts';
import { assess, fingerprint } from '../../../machines/policies/assessment.ts';
import { visibleMessages } from '../../../machines/policies/progress.ts';
import { contextTokens } from '../../../machines/policies/understanding.ts';
import { chainStateArbitrary, replyArbitraries } from '../../support/arbitraries.ts';
import { aMessage, anAssessment, aState, deepFreeze, results, someThresholds } from '../../support/contract-samples.ts';

const reply = results.yield.reply;
const assessed = (state: ReturnType<typeof aState>, said: Partial<YieldReply> = {}) =>
  assess(state, state.messages, { ...reply, ...said });
const withResults = (changes: object) => aState({ results: { ...results, ...changes } });

describe('assessing an answer', () => {
  it('[Y8] is valid in any state, has a rationale, and uses the numbers of the reply', () => {
    fc.assert(
      fc.property(chainStateArbitrary, replyArbitraries.yield as fc.Arbitrary<YieldReply>, (state, said) => {
        const found = assess(deepFreeze(state), visibleMessages(state), deepFreeze(said));
        expect(assessmentSchema.parse(found)).toEqual(found);
        expect(found.rationale).not.toBe('');
        expect(found.evidence).toMatchObject({
          modelConfidence: said.confidence,
          modelSufficiency: said.informationSufficiency,
          claimsCompletion: said.taskComplete,
        });
        expect(found.confidence).toBeLessThanOrEqual(said.confidence);
        if (found.change !== null) expect(found.change >= 0 && found.change <= 1).toBe(true);
      }),
    );
  });

  it('[Y2] has no change in the first cycle and the change from the previous answer later', () => {
    expect(assessed(aState()).change).toBeNull();
    expect(assessed(aState({ assessment: anAssessment({ answer: 'in 1932' }) })).change).toBe(0);
    expect(assessed(aState({ assessment: anAssessment({ answer: 'no idea' }) })).change).toBe(1);
  });

  it.each([
    [
      'unclear intent',
      { intention: { ...results.intention, reply: { ...results.intention.reply, unclearIntent: true } } },
      {},
      'intention',
    ],
    [
      'undigested insights',
      { observation: { ...results.observation, reply: { ...results.observation.reply, undigested: true } } },
      {},
      'observation',
    ],
    ['insufficient information', {}, { informationSufficiency: 0.69 }, 'experience'],
    ['a requested tool', {}, { needsTools: true }, 'action'],
    ['the proposal of the model', {}, { proposedPhase: 'yield' }, 'yield'],
    ['nothing', {}, {}, 'action'],
  ])('[Y3] [Y4] detects %s and proposes a phase', (_, changes, said, wanted) => {
    expect(assessed(withResults(changes), said).proposal).toBe(wanted);
  });

  it('[Y3] detects a context over its token limit', () => {
    const messages = [aMessage({ content: 'x'.repeat(284) })];
    const full = aState({ messages, thresholds: someThresholds({ windowShare: 1 }) });
    const tokens = contextTokens(full, messages);
    expect(tokens).toBeGreaterThan(71);
    expect(assessed({ ...full, contextWindowTokens: tokens - 1 }).proposal).toBe('understanding');
    expect(assessed({ ...full, contextWindowTokens: tokens }).proposal).toBe('action');
  });

  it('[Y7] counts earlier turns to the same phase with the same answer', () => {
    const turn: ContinueDecision = { cycle: 1, target: 'action', fingerprint: fingerprint('in 1932'), sketch: null };
    const repeats = (history: readonly ContinueDecision[]) => assessed(aState({ recursion: { history } })).repeats;
    expect(repeats([turn])).toBe(1);
    expect(repeats([turn, { ...turn, cycle: 2 }])).toBe(2);
    expect(repeats([{ ...turn, fingerprint: fingerprint('in 1931') }])).toBe(0);
  });

  it('[Y5] [Y7] counts a proposal that is not a phase as the default phase', () => {
    const turn = { cycle: 1, target: 'action', fingerprint: fingerprint(reply.answer), sketch: null } as const;
    const found = assessed(aState({ recursion: { history: [turn] } }), { proposedPhase: 'nowhere' });
    expect(found).toMatchObject({ proposal: 'nowhere', proposedBy: 'model', repeats: 1 });
  });
});
