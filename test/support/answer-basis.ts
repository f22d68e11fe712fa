import { type AnswerMaterial, type SynthesisInput, synthesisInputSchema } from '../../machines/contracts/synthesis.ts';
import { type AnswerBasis, basisOfContract } from '../../machines/policies/synthesis/basis.ts';
import { aDecision, aMessage } from './contract-samples.ts';

/** A finished run of another program, with every field of the contract. */
export const aSynthesisInput = (changes: Partial<SynthesisInput> = {}): SynthesisInput => ({
  request: 'When was it opened?',
  executionResults: [{ stepId: 's1', phase: 'action', content: 'In 1932.' }],
  planState: { goal: 'the year of opening' },
  convergenceAssessment: { confidence: 0.9, rationale: 'first cycle' },
  executionPasses: [{ cycle: 1, rule: 'confidenceReached' }],
  semanticValidation: { contradictions: ['one source says 1933'] },
  taskProfile: { clarity: 0.9 },
  correlationId: 'r1',
  executionStartTimestamp: '2025-01-27T10:00:00.000Z',
  convergenceStatus: true,
  totalPasses: 1,
  totalRefinements: 0,
  ttlRemaining: 4,
  ...changes,
});

/** The basis of a good answer after one cycle of a chain with one phase. */
export function aBasis(changes: Partial<AnswerBasis> = {}, material: Partial<AnswerMaterial> = {}): AnswerBasis {
  const known = basisOfContract(synthesisInputSchema.parse(aSynthesisInput()), 8_000);
  return {
    ...known,
    material: {
      ...known.material,
      draft: { text: 'In 1932.', confidence: 0.9, usedMessageIds: ['p1'], notes: '' },
      messages: [aMessage({ role: 'search', phase: 'experience' })],
      ...material,
    },
    answer: 'In 1932.',
    phases: ['action'],
    decision: aDecision(),
    limits: {
      maxCycles: 5,
      maxModelCalls: 100,
      maxTokens: 1_000_000,
      maxCost: null,
      synthesisReserveTokens: 8_000,
      totalMs: 600_000,
      phasesMs: 540_000,
    },
    hasDocuments: true,
    usage: { modelCalls: 6, inputTokens: 800, outputTokens: 200, estimated: false, cost: 0.01 },
    currency: 'EUR',
    elapsedMs: 1_500,
    ...changes,
  };
}
