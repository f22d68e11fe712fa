import { recursionStateSchema } from '../../../machines/contracts/chain-state.ts';
import { contextOperationSchema, envelopeSchema } from '../../../machines/contracts/context.ts';
import { assessmentSchema, decisionSchema } from '../../../machines/contracts/decision.ts';
import { messageSchema } from '../../../machines/contracts/message.ts';
import { phaseInputSchema, phaseResultSchema } from '../../../machines/contracts/phase-io.ts';
import { type ContractCase, contractCase } from './contract-case.ts';
import { aDecision, aMessage, aPassage, operations, results } from './samples.ts';

const messages = [aMessage()];
const common = { runId: 'r1', request: 'When?', prompt: 'When?', cycle: 1, step: 1, content: '', messages };

const operationBad: Record<keyof typeof operations, readonly [string, unknown]> = {
  ADD: ['data.message.role', 'system'],
  TAG: ['data.tags', []],
  PRUNE: ['target', ''],
  TRANSFORM: ['data.content', ''],
  LINK: ['data.strength', 1.1],
  PRIORITIZE: ['data.importance', -0.1],
};
const resultBad: Record<keyof typeof results, readonly [string, unknown]> = {
  action: ['reply.confidence', 1.2],
  experience: ['retrieval.passages.0.relevance', 2],
  intention: ['reply.clarity', -1],
  observation: ['reply.connections.0.strength', 7],
  understanding: ['reply.assessments.0.relevance', 1.01],
  yield: ['reply.informationSufficiency', 'much'],
};
const inputs = [
  {
    phase: 'action',
    ...common,
    capabilities: [{ name: 'draft', description: 'Drafts.', arguments: {}, timeoutMs: null }],
  },
  { phase: 'experience', ...common, passages: [aPassage()] },
  { phase: 'intention', ...common },
  { phase: 'observation', ...common },
  { phase: 'understanding', ...common },
  { phase: 'yield', ...common, previousAnswer: '', flags: ['unclear_intent'], phases: ['action'] },
] as const;

/** What goes from phase to phase. */
export const chainCases: readonly ContractCase[] = [
  contractCase(
    '[C2]',
    'a message',
    messageSchema,
    aMessage({ source: { path: 'a.md', startLine: 1, endLine: 2 }, links: [{ to: 'x', relation: 'r', strength: 1 }] }),
    ['id', ''],
    ['role', 'system'],
    ['phase', 'thinking'],
    ['content', null],
    ['createdAtMs', Number.NaN],
    ['cycle', 1.5],
    ['tags', 'one'],
    ['importance', 1.1],
    ['links.0.strength', -0.1],
    ['references', [1]],
    ['source.startLine', 0],
  ),
  contractCase(
    '[C2]',
    'an envelope',
    envelopeSchema,
    { phase: 'action', content: 'x', operations: Object.values(operations) },
    ['phase', 'thinking'],
    ['content', 1],
    ['operations.0.data.message.id', ''],
  ),
  contractCase(
    '[C2]',
    'the recursion state',
    recursionStateSchema,
    {
      mode: 'manual',
      cycle: 2,
      completedCycles: 1,
      step: 7,
      origin: 'experience',
      continuationPrompt: 'more',
      history: [{ cycle: 1, target: 'experience', fingerprint: '0a' }],
    },
    ['mode', 'maybe'],
    ['cycle', 0],
    ['completedCycles', -1],
    ['origin', 'nowhere'],
    ['history.0.target', 'nowhere'],
  ),
  ...Object.values(operations).map((value) =>
    contractCase(
      '[C3]',
      `a ${value.operation} operation`,
      contextOperationSchema,
      value,
      operationBad[value.operation],
      ['reason', ''],
    ),
  ),
  ...Object.values(results).map((value) =>
    contractCase('[C1]', `the result of ${value.phase}`, phaseResultSchema, value, resultBad[value.phase], ['step', 0]),
  ),
  ...inputs.map((value) =>
    contractCase('[C1]', `the input of ${value.phase}`, phaseInputSchema, value, ['prompt', ''], ['messages', 'none']),
  ),
  contractCase(
    '[Y8]',
    'a decision',
    decisionSchema,
    aDecision({ complete: false, nextPhase: 'action', rule: 'nextPhaseChosen' }),
    ['cycle', 0],
    ['rule', ''],
    ['nextPhase', 'nowhere'],
    ['rationale', ''],
    ['inputs', { deep: {} }],
  ),
  contractCase(
    '[Y8]',
    'an assessment',
    assessmentSchema,
    {
      answer: '',
      confidence: 0,
      toCompare: null,
      change: null,
      changeBy: 'words',
      taskComplete: false,
      informationSufficiency: 0,
      evidence: {
        modelConfidence: 0,
        grounding: null,
        modelSufficiency: 0,
        sufficiency: 0.5,
        claimsCompletion: false,
        claim: null,
        satisfaction: 0,
      },
      fingerprint: 'x',
      repeats: 0,
      proposal: 'nowhere',
      proposedBy: 'model',
      rationale: '',
    },
    ['repeats', 0.5],
    ['change', 'none'],
  ),
];
