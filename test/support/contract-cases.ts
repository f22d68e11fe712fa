import type * as z from 'zod/mini';
import { attemptExecutionSchema, feedbackSchema, replySchema } from '../../machines/contracts/attempt.ts';
import {
  capabilityCallSchema,
  capabilityDescriptorSchema,
  capabilityResultSchema,
} from '../../machines/contracts/capability.ts';
import { recursionStateSchema } from '../../machines/contracts/chain-state.ts';
import { consentRequestSchema, contextOperationSchema, envelopeSchema } from '../../machines/contracts/context.ts';
import { assessmentSchema, decisionSchema } from '../../machines/contracts/decision.ts';
import { phaseFailureSchema } from '../../machines/contracts/failure.ts';
import { messageSchema } from '../../machines/contracts/message.ts';
import { retrievalSchema } from '../../machines/contracts/passage.ts';
import { phaseInputSchema, phaseResultSchema } from '../../machines/contracts/phase-io.ts';
import {
  answerMaterialSchema,
  finalAnswerSchema,
  synthesisInputSchema,
  synthesisReplySchema,
} from '../../machines/contracts/synthesis.ts';
import { tokenUsageSchema, usageSchema } from '../../machines/contracts/usage.ts';
import { aBasis, aSynthesisInput } from './answer-basis.ts';
import {
  aCapabilityResult,
  aDecision,
  aFinalAnswer,
  aMessage,
  anExecution,
  aPassage,
  aPhaseFailure,
  operations,
  results,
} from './contract-samples.ts';

/** A contract by its name, with the requirement it stands for, a valid value, and values that it must refuse by their path. */
interface ContractCase {
  readonly title: string;
  readonly schema: z.ZodMiniType;
  readonly value: object;
  readonly bad: readonly (readonly [path: string, value: unknown])[];
}

const contractCase = (
  ids: string,
  name: string,
  schema: z.ZodMiniType,
  value: object,
  ...bad: ContractCase['bad']
): ContractCase => ({ title: `${ids} ${name}`, schema, value, bad });

const messages = [aMessage()];
const sampleProgress = {
  maxCycles: 5,
  confidences: [{ phase: 'action', confidence: 0.4 }],
  decisions: [],
  context: null,
  modelCalls: 5,
  tokens: 900,
  corrections: 0,
  failures: [],
} as const;
const inputFields = { runId: 'r1', request: 'When?', prompt: 'When?', cycle: 1, step: 1, content: '', messages };

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
const phaseInputs = [
  {
    phase: 'action',
    ...inputFields,
    capabilities: [{ name: 'draft', description: 'Drafts.', arguments: {}, timeoutMs: null }],
  },
  { phase: 'experience', ...inputFields, passages: [aPassage()] },
  { phase: 'intention', ...inputFields },
  { phase: 'observation', ...inputFields },
  { phase: 'understanding', ...inputFields },
  {
    phase: 'yield',
    ...inputFields,
    previousAnswer: '',
    flags: ['unclear_intent'],
    phases: ['action'],
    progress: sampleProgress,
  },
] as const;

/** What goes from phase to phase. */
const chainCases: readonly ContractCase[] = [
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
      history: [{ cycle: 1, target: 'experience', fingerprint: '0a', sketch: null }],
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
  ...phaseInputs.map((value) =>
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
      toGrade: false,
      gradingProblem: null,
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
      sketch: { terms: [1], facts: [] },
      repeats: 0,
      proposal: 'nowhere',
      proposedBy: 'model',
      rationale: '',
    },
    ['repeats', 0.5],
    ['change', 'none'],
  ),
];

/** What goes between the chain and the world. */
const attemptCases: readonly ContractCase[] = [
  contractCase(
    '[A5]',
    'an attempt execution',
    attemptExecutionSchema,
    anExecution(),
    ['task', 7],
    ['attempts.0.attempt', 0],
    ['corrections', -1],
    ['usage.modelCalls', -1],
  ),
  contractCase('[A9]', 'feedback', feedbackSchema, { previousReply: '{', problem: 'cut off' }, ['problem', null]),
  contractCase(
    '[A11]',
    'a reply',
    replySchema,
    { text: '{}', value: {}, prose: false, failure: null, usage: { inputTokens: 1, outputTokens: 1, estimated: true } },
    ['text', null],
  ),
  contractCase(
    '[A11]',
    'usage',
    usageSchema,
    { modelCalls: 1, inputTokens: 2, outputTokens: 3, estimated: false, cost: 0.5 },
    ['cost', -1],
    ['modelCalls', -1],
    ['inputTokens', 1.5],
  ),
  contractCase('[A11]', 'token usage', tokenUsageSchema, { inputTokens: 2, outputTokens: 3, estimated: true }, [
    'outputTokens',
    -1,
  ]),
  contractCase(
    '[A10]',
    'a failure of a phase',
    phaseFailureSchema,
    aPhaseFailure('action', { retryAfterMs: 1000, status: 429 }),
    ['failure.stage', 'luck'],
    ['failure.retryAfterMs', -1],
  ),
  contractCase(
    '[R10]',
    'a capability descriptor',
    capabilityDescriptorSchema,
    { name: 'draft', description: 'Drafts.', arguments: { type: 'object' }, timeoutMs: 5_000 },
    ['name', ''],
    ['timeoutMs', 0],
    ['arguments', 'none'],
  ),
  contractCase('[R2]', 'a capability call', capabilityCallSchema, { capability: 'draft', arguments: '{}' }, [
    'arguments',
    {},
  ]),
  contractCase(
    '[R2]',
    'a capability result',
    capabilityResultSchema,
    aCapabilityResult({ success: false, error: 'no' }),
    ['success', 'yes'],
    ['durationMs', -1],
  ),
  contractCase(
    '[C5]',
    'a retrieval',
    retrievalSchema,
    { query: 'q', passages: [aPassage()], widened: true },
    ['passages.0.text', ''],
    ['passages.0.relevance', 1.5],
  ),
  contractCase(
    '[U8]',
    'a consent request',
    consentRequestSchema,
    {
      items: [
        { operationId: 'o', messageId: 'm', role: 'search', preview: 'p', chars: 1200, summary: 's', reason: 'r' },
      ],
    },
    ['items.0.chars', 0.5],
  ),
];

/** What goes into the final answer, and the answer. */
const answerCases: readonly ContractCase[] = [
  contractCase(
    '[E1]',
    'the input of synthesis',
    synthesisInputSchema,
    aSynthesisInput(),
    ['request', ''],
    ['executionResults', 'none'],
    ['executionResults.0', 1],
    ['planState', 3],
    ['convergenceAssessment', null],
    ['executionPasses.0', ''],
    ['semanticValidation', 'none'],
    ['taskProfile', []],
    ['correlationId', ''],
    ['executionStartTimestamp', 'yesterday'],
    ['convergenceStatus', 'yes'],
    ['totalPasses', -1],
    ['totalRefinements', 0.5],
    ['ttlRemaining', -1],
  ),
  contractCase(
    '[E8]',
    'the material of the final answer',
    answerMaterialSchema,
    aBasis().material,
    ['draft.confidence', 2],
    ['messages.0.content', 5],
    ['steps', 'none'],
    ['notes.plan', null],
  ),
  contractCase(
    '[E2]',
    'a written answer',
    synthesisReplySchema,
    { answerText: 'In 1932.', confidence: 0.9, usedMessageIds: ['p1'], usedStepIds: ['s1'], notes: '' },
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
    ['metadata.synthesis.writtenBy', 'user'],
    ['metadata.synthesis.fallback', 'luck'],
    ['metadata.budget.tokens.used', -1],
    ['metadata.budget.ttl.left', 0.5],
    ['metadata.cost.currency', 5],
    ['metadata.cycles', -1],
  ),
];

/** Every contract that is data. */
export const contractCases = [...chainCases, ...attemptCases, ...answerCases];
