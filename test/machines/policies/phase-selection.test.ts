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

const inputsArbitrary: fc.Arbitrary<SelectionInputs> = fc.record({
  informationSufficiency: unit,
  unclearIntent: fc.boolean(),
  needsTools: fc.boolean(),
  undigestedInsights: fc.boolean(),
  mayShrink: fc.boolean(),
  messages: fc.nat(20).map(manyMessages),
  tokens: fc.nat(200),
  tokensAllowed: fc.nat(200),
  modelProposal: fc.option(fc.oneof(fc.constantFrom<string>(...PHASES), fc.string())),
});

/** The rules as the requirement words them; the proposal of the model replaces "else Action". */
function required(seen: SelectionInputs) {
  const policy = (proposal: string) => ({ proposal, by: 'policy' });
  if (seen.informationSufficiency < 0.7) return policy('experience');
  if (seen.unclearIntent) return policy('intention');
  if (seen.needsTools) return policy('action');
  if (seen.undigestedInsights) return policy('observation');
  const isCrowded = seen.messages.length > 10 || seen.tokens > seen.tokensAllowed;
  if (seen.mayShrink && isCrowded) return policy('understanding');
  return seen.modelProposal === null ? policy('action') : { proposal: seen.modelProposal, by: 'model' };
}

describe('the next phase', () => {
  it('[Y3] [Y4] [Y5] is that of the first reason in the fixed order, else the proposal of the model, whatever is assessed', () => {
    const reasons: Partial<SelectionInputs>[] = [
      {},
      { informationSufficiency: 0.69 },
      { unclearIntent: true },
      { needsTools: true },
      { undigestedInsights: true },
      { tokens: 101 },
      { messages: manyMessages(11) },
    ];
    const examples = reasons.flatMap((changes) =>
      [{}, { modelProposal: 'yield' }, { modelProposal: 'nowhere', mayShrink: false }].map(
        (more): [SelectionInputs] => [{ ...calm, ...changes, ...more }],
      ),
    );
    fc.assert(
      fc.property(inputsArbitrary, (seen) => {
        expect(selectNextPhase(seen, thresholds)).toMatchObject(required(seen));
      }),
      { examples, numRuns: 100 },
    );
  });

  it('[C1] follows the fixed phase order, and nothing follows Yield', () => {
    expect(PHASES.map(phaseAfter)).toEqual([...PHASES.slice(1), null]);
  });
});
