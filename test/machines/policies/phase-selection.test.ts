import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../machines/contracts/phase.ts';
import { phaseAfter, type SelectionInputs, selectNextPhase } from '../../../machines/policies/progress.ts';
import { unit } from '../../support/arbitraries.ts';
import { aMessage, someThresholds } from '../../support/contract-samples.ts';

const thresholds = someThresholds();
const manyMessages = (count: number) => Array.from({ length: count }, (_, at) => aMessage({ id: `m${at}` }));
const calm: SelectionInputs = {
  informationSufficiency: 0.7,
  unclearIntent: false,
  needsTools: false,
  undigestedInsights: false,
  mayShrink: true,
  messages: manyMessages(10),
  tokens: 100,
  tokensAllowed: 100,
  modelProposal: null,
};
const select = (changes: Partial<SelectionInputs> = {}) => selectNextPhase({ ...calm, ...changes }, thresholds);

/** The rules for the next phase in order: a state in which each applies, and the phase it selects. */
const RULES = [
  [{ informationSufficiency: 0.69 }, 'experience'],
  [{ unclearIntent: true }, 'intention'],
  [{ needsTools: true }, 'action'],
  [{ undigestedInsights: true }, 'observation'],
  [{ tokens: 101 }, 'understanding'],
] as const;

const inputsArbitrary: fc.Arbitrary<SelectionInputs> = fc.record({
  informationSufficiency: unit,
  unclearIntent: fc.boolean(),
  needsTools: fc.boolean(),
  undigestedInsights: fc.boolean(),
  mayShrink: fc.constant(true),
  messages: fc.nat(20).map(manyMessages),
  tokens: fc.nat(200),
  tokensAllowed: fc.nat(200),
  modelProposal: fc.option(fc.oneof(fc.constantFrom<string>(...PHASES), fc.string())),
});

/** The rules as the requirement words them; the proposal of the model replaces "else Action". */
function required(seen: SelectionInputs): string {
  if (seen.informationSufficiency < 0.7) return 'experience';
  if (seen.unclearIntent) return 'intention';
  if (seen.needsTools) return 'action';
  if (seen.undigestedInsights) return 'observation';
  if (seen.messages.length > 10 || seen.tokens > seen.tokensAllowed) return 'understanding';
  return seen.modelProposal ?? 'action';
}

describe('the next phase', () => {
  it('[Y3] treats eleven messages as too many, but not ten', () => {
    expect(select().proposal).toBe('action');
    expect(select({ messages: manyMessages(11) }).proposal).toBe('understanding');
  });

  it.each([...PHASES, 'nowhere'])('[Y4] [Y5] is the proposal "%s" of the model when no rule applies', (given) => {
    expect(select({ modelProposal: given })).toMatchObject({ proposal: given, by: 'model' });
  });

  it.each(RULES)('[Y3] [Y4] ignores the proposal of the model for %j', (changes, wanted) => {
    expect(select({ ...changes, modelProposal: 'yield' })).toMatchObject({ proposal: wanted, by: 'policy' });
  });

  it('[Y3] is that of the first reason in the fixed order, whatever is assessed', () => {
    const counterexample = { ...calm, messages: manyMessages(11), modelProposal: 'yield' };
    fc.assert(
      fc.property(inputsArbitrary, (seen) => selectNextPhase(seen, thresholds).proposal === required(seen)),
      { examples: [[counterexample]] },
    );
  });

  it('[C1] follows the fixed phase order, and nothing follows Yield', () => {
    expect(PHASES.map(phaseAfter)).toEqual([...PHASES.slice(1), null]);
  });

  it('[Y3] is not Understanding when nothing may be removed from the context', () => {
    expect(select({ tokens: 101, mayShrink: false }).proposal).toBe('action');
    expect(select({ messages: manyMessages(11), mayShrink: false }).proposal).toBe('action');
  });
});
