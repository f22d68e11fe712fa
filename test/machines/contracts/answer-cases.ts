import {
  finalAnswerSchema,
  synthesisInputSchema,
  synthesisReplySchema,
} from '../../../machines/contracts/synthesis.ts';
import { type ContractCase, contractCase } from './contract-case.ts';
import { aDecision, aFinalAnswer, aMessage, aPhaseFailure } from './samples.ts';

export const synthesisInputSample = {
  request: 'When was it opened?',
  executionResults: [{ stepId: 's1', phase: 'action', content: 'In 1932.' }],
  planState: { goal: null, alternatives: [] },
  convergenceAssessment: { change: null, confidence: 0.9, rationale: 'first cycle' },
  executionPasses: [aDecision()],
  semanticValidation: { failures: [aPhaseFailure()] },
  taskProfile: { prompt: 'When was it opened?' },
  correlationId: 'r1',
  executionStartTimestamp: '2025-01-27T10:00:00.000Z',
  convergenceStatus: true,
  totalPasses: 1,
  totalRefinements: 0,
  ttlRemaining: 4,
  draft: 'In 1932.',
  messages: [aMessage()],
};

/** What goes into the final answer, and the answer. */
export const answerCases: readonly ContractCase[] = [
  contractCase(
    '[E1]',
    'the input of synthesis',
    synthesisInputSchema,
    synthesisInputSample,
    ['request', ''],
    ['executionResults.0.stepId', 1],
    ['planState.goal', 3],
    ['convergenceAssessment.confidence', null],
    ['executionPasses.0.rule', 'mood'],
    ['semanticValidation.failures', null],
    ['taskProfile.prompt', null],
    ['correlationId', ''],
    ['executionStartTimestamp', 'yesterday'],
    ['convergenceStatus', 'yes'],
    ['totalPasses', -1],
    ['totalRefinements', 0.5],
    ['ttlRemaining', -1],
    ['draft', null],
    ['messages', null],
  ),
  contractCase(
    '[E2]',
    'a written answer',
    synthesisReplySchema,
    { answerText: 'In 1932.', confidence: 0.9, usedMessageIds: ['p1'], notes: '' },
    ['answerText', '   '],
    ['confidence', 1.1],
  ),
  contractCase(
    '[E2]',
    'a final answer',
    finalAnswerSchema,
    aFinalAnswer(),
    ['answerText', ''],
    ['confidence', 1.5],
    ['usedStepIds', [1]],
    ['notes', null],
    ['ttlExhausted', 'no'],
    ['status', 'fine'],
    ['sources.0.startLine', 0],
    ['metadata.reason', 'bad luck'],
    ['metadata.writtenBy', 'user'],
    ['metadata.cycles', -1],
  ),
];
