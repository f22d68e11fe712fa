import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { decisionSchema } from '../../../machines/contracts/decision.ts';
import { PHASES } from '../../../machines/contracts/phase.ts';
import {
  continuationPrompt,
  decideAsDirected,
  decideToComplete,
  decideToContinue,
} from '../../../machines/policies/decisions.ts';
import { YIELD_RULES, type YieldRule } from '../../../machines/policies/yield-rules.ts';
import { chainStateArbitrary } from '../../support/arbitraries.ts';
import { anAssessment, aState, deepFreeze, results, someLimits } from '../../support/contract-samples.ts';

const RULES = Object.keys(YIELD_RULES) as YieldRule[];
const assessment = anAssessment({
  confidence: 0.91,
  change: 0.05,
  taskComplete: true,
  fingerprint: 'abc',
  proposal: 'experience',
  repeats: 1,
});
/** Every rule holds. */
const assessed = aState({
  recursion: { cycle: 3, completedCycles: 3 },
  limits: someLimits({ maxCycles: 3, maxTokens: 100 }),
  usage: { modelCalls: 9, inputTokens: 80, outputTokens: 20, estimated: false, cost: null },
  assessment,
  results: { ...aState().results, experience: results.experience, yield: { ...results.yield, prose: true } },
});

describe('a decision', () => {
  it.each(RULES)('[Y8] states the reason and the compared numbers when it completes by %s', (rule) => {
    const { decision } = decideToComplete(assessed, rule);
    expect(decisionSchema.parse(decision)).toMatchObject({ cycle: 3, rule, complete: true, nextPhase: null });
    expect(decision?.rationale).toMatch(/\w/);
    const compared = Object.entries(decision?.inputs ?? {}).map(([name, value]) => `${name} ${value}`);
    const described = rule === 'loopDetected' ? ['2 cycles', '2 count as a loop'] : compared;
    for (const text of described) expect(decision?.rationale).toContain(text);
    expect(Object.keys(decision?.inputs ?? {})).not.toEqual([]);
  });

  it('[Y8] is valid with a rationale and numbers in any state', () => {
    const phase = fc.constantFrom(...PHASES);
    fc.assert(
      fc.property(chainStateArbitrary, phase, fc.constantFrom(...RULES), (any, target, rule) => {
        const state = deepFreeze(any);
        const all = [
          decideToComplete(state, rule),
          decideToContinue(state, 'nextPhaseChosen', target),
          decideToContinue(state, 'nextPhaseInvalid', 'action'),
          decideAsDirected(state, target, 'look again'),
        ];
        for (const { decision, decisions } of all) {
          expect(decisionSchema.parse(decision)).toEqual(decision);
          expect(decisions?.at(-1)).toEqual(decision);
          expect(Object.keys(decision?.inputs ?? {})).not.toEqual([]);
        }
      }),
    );
  });

  it.each(PHASES)(
    '[Y4] [Y6] to continue with %s sets the prompt, the origin, the next cycle, and a history entry',
    (phase) => {
      const { decision, direction, recursion } = decideToContinue(assessed, 'nextPhaseChosen', phase);
      expect(decision).toMatchObject({ complete: false, nextPhase: phase, inputs: { confidence: 0.91, change: 0.05 } });
      expect(direction).toBe(phase);
      expect(recursion).toMatchObject({ cycle: 4, completedCycles: 3, origin: phase });
      expect(recursion?.continuationPrompt).toContain(assessed.request);
      expect(recursion?.history).toEqual([
        { cycle: 3, target: phase, fingerprint: 'abc', sketch: { terms: [], facts: [] } },
      ]);
    },
  );

  it('[Y6] writes a continuation prompt that names what is missing and differs per phase', () => {
    const prompts = PHASES.map((phase) => continuationPrompt(assessed, phase));
    expect(new Set(prompts).size).toBe(PHASES.length);
    for (const prompt of prompts) expect(prompt).toContain('Still missing: the day.');
    expect(continuationPrompt(aState(), 'action')).not.toContain('missing');
  });

  it('[Y5] for a proposal that is not a phase says so and names the default', () => {
    const state = { ...assessed, assessment: anAssessment({ proposal: 'nowhere', proposedBy: 'model' }) };
    const { decision, direction } = decideToContinue(state, 'nextPhaseInvalid', 'action');
    expect(direction).toBe('action');
    expect(decision).toMatchObject({ rule: 'nextPhaseInvalid', nextPhase: 'action', inputs: { proposal: 'nowhere' } });
    expect(decision?.rationale).toMatch(/"nowhere" is not a phase.*action/);
  });

  it.each(PHASES)('[Y4] follows the user to %s, with the prompt of the user or the default one', (phase) => {
    const own = decideAsDirected(assessed, phase, 'Look at page 4.');
    expect(own).toMatchObject({ direction: phase, decision: { rule: 'directedByUser', nextPhase: phase } });
    expect(own.recursion?.continuationPrompt).toBe('Look at page 4.');
    expect(decideAsDirected(assessed, phase).recursion?.continuationPrompt).toBe(continuationPrompt(assessed, phase));
  });

  it('[Y8] is kept in a list of the newest 16', () => {
    let state: ChainState = assessed;
    for (let at = 0; at < 40; at += 1) state = { ...state, ...decideToContinue(state, 'nextPhaseChosen', 'action') };
    expect(state.decisions.map(({ cycle }) => cycle)).toEqual(Array.from({ length: 16 }, (_, at) => at + 27));
  });
});
