import type { AttemptExecution, AttemptOutcome, AttemptRecord } from '../../machines/contracts/attempt.ts';
import type { CapabilityResult } from '../../machines/contracts/capability.ts';
import type { ChainInput, ChainState, RecursionState } from '../../machines/contracts/chain-state.ts';
import type { ContextOperation } from '../../machines/contracts/context.ts';
import type { Assessment, Decision } from '../../machines/contracts/decision.ts';
import type { Failure, PhaseFailure } from '../../machines/contracts/failure.ts';
import { type Limits, limitsSchema, type Thresholds, thresholdsSchema } from '../../machines/contracts/limits.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Passage, PassageSource } from '../../machines/contracts/passage.ts';
import type { PhaseResults } from '../../machines/contracts/phase-io.ts';
import type { FinalAnswer } from '../../machines/contracts/synthesis.ts';
import { initialState } from '../../machines/policies/progress.ts';
import { ONE_CALL_PER_PHASE } from './run-chain.ts';

/** One valid value of each contract, with the changes a test is about. */

export const aMessage = (changes: Partial<Message> = {}): Message => ({
  id: 'm1',
  role: 'assistant',
  phase: 'action',
  content: 'The bridge was opened in 1932.',
  createdAtMs: 1_700_000_000_000,
  cycle: 1,
  tags: ['draft'],
  importance: 0.5,
  links: [],
  references: [],
  source: null,
  ...changes,
});

export const aFailure = (changes: Partial<Failure> = {}): Failure => ({
  stage: 'schema',
  code: 'schema_mismatch',
  message: 'The reply does not fit.',
  retryable: true,
  retryAfterMs: null,
  status: null,
  issues: [{ path: 'confidence', message: 'expected a number' }],
  ...changes,
});

export const aPhaseFailure = (phase = 'experience', changes: Partial<Failure> = {}): PhaseFailure => ({
  phase,
  cycle: 1,
  failure: aFailure(changes),
});

export const aDecision = (changes: Partial<Decision> = {}): Decision => ({
  cycle: 1,
  rule: 'confidenceReached',
  complete: true,
  nextPhase: null,
  rationale: 'the answer is confident enough (confidence 0.95, above 0.9)',
  inputs: { confidence: 0.95, above: 0.9 },
  ...changes,
});

export const aPassage = (changes: Partial<Passage> = {}): Passage => ({
  id: 'p1',
  text: 'The bridge was opened on 19 March 1932.',
  heading: ['Bridges', 'Sydney'],
  source: { path: 'bridges.md', startLine: 3, endLine: 5 },
  relevance: 0.9,
  ...changes,
});

/** A source that finds these passages, whatever it searches for. */
export const sourceOf = (...passages: readonly Passage[]): PassageSource => ({
  search: async (query) => ({ query, passages, widened: false }),
});

export const aCapabilityResult = (changes: Partial<CapabilityResult> = {}): CapabilityResult => ({
  id: 's1.action.1',
  capability: 'draft',
  arguments: { topic: 'bridges' },
  success: true,
  output: 'a draft',
  code: null,
  error: null,
  sessionId: null,
  synthesized: false,
  startedAtMs: 1_700_000_000_000,
  durationMs: 12,
  ...changes,
});

export const anAttempt = (changes: Partial<AttemptRecord> = {}): AttemptRecord => ({
  attempt: 1,
  model: 0,
  text: '{}',
  failure: null,
  usage: { inputTokens: 10, outputTokens: 5, estimated: false },
  startedAtMs: 1_700_000_000_000,
  durationMs: 40,
  ...changes,
});

export const anExecution = (changes: Partial<AttemptExecution> = {}): AttemptExecution => ({
  id: 's1.action',
  task: 'action',
  attempts: [anAttempt()],
  corrections: 0,
  transportRetries: 0,
  fallbacks: 0,
  usage: { modelCalls: 1, inputTokens: 10, outputTokens: 5, estimated: false, cost: null },
  ...changes,
});

/** The six context operations, one of each [C3]. */
export const operations = {
  ADD: {
    operation: 'ADD',
    id: 's1.o1',
    target: 'm2',
    data: { message: aMessage({ id: 'm2' }) },
    code: 'search_result',
    reason: 'new',
    metadata: {},
  },
  TAG: {
    operation: 'TAG',
    id: 's1.o2',
    target: 'm1',
    data: { tags: ['kept'] },
    code: 'user_consent',
    reason: 'kept',
    metadata: { score: 1 },
  },
  PRUNE: {
    operation: 'PRUNE',
    id: 's1.o3',
    target: 'm1',
    data: {},
    code: 'low_relevance',
    reason: 'stale',
    metadata: { relevance: 0.1 },
  },
  TRANSFORM: {
    operation: 'TRANSFORM',
    id: 's1.o4',
    target: 'm1',
    data: { transformation: 'summarize', content: 'Opened 1932.', maxChars: 100, originalChars: 1_200 },
    code: 'long_message',
    reason: 'long',
    metadata: { relevance: 0.5 },
  },
  LINK: {
    operation: 'LINK',
    id: 's1.o5',
    target: 'm1',
    data: { to: 'm2', relation: 'supports', strength: 0.8 },
    code: 'related',
    reason: 'strong',
    metadata: { strength: 0.8 },
  },
  PRIORITIZE: {
    operation: 'PRIORITIZE',
    id: 's1.o6',
    target: 'm1',
    data: { importance: 0.9 },
    code: 'high_relevance',
    reason: 'serves the goal',
    metadata: { alignment: 0.9 },
  },
} as const satisfies Record<ContextOperation['operation'], ContextOperation>;

/** One result of each phase, as after a full cycle [C1]. */
export const results = {
  action: {
    phase: 'action',
    step: 1,
    prose: false,
    attemptId: 's1.action',
    reply: { response: 'It was 1932.', confidence: 0.6, calls: [{ capability: 'draft', arguments: '{}' }] },
    results: [aCapabilityResult()],
    runs: 1,
    stopReason: 'done',
    problem: null,
    memory: [
      { role: 'user', content: 'When was the bridge opened?' },
      { role: 'assistant', capability: 'draft', success: true, summary: 'a draft' },
    ],
  },
  experience: {
    phase: 'experience',
    step: 2,
    prose: false,
    attemptId: 's2.experience',
    reply: { summary: 'The papers say 1932.', relevantPassageIds: ['p1'], missing: ['the day'], confidence: 0.8 },
    retrieval: { query: 'bridge', passages: [aPassage()], widened: false },
    sourceFailure: null,
  },
  intention: {
    phase: 'intention',
    step: 3,
    prose: false,
    attemptId: 's3.intention',
    reply: {
      goal: 'the year of opening',
      alternatives: ['the year of design'],
      clarity: 0.9,
      unclearIntent: false,
      alignment: [{ messageId: 'm1', score: 0.8 }],
    },
    conflicts: [],
  },
  observation: {
    phase: 'observation',
    step: 4,
    prose: false,
    attemptId: 's4.observation',
    reply: {
      insights: ['1932 is named twice'],
      undigested: false,
      entities: [{ name: 'bridge', messageIds: ['m1'] }],
      connections: [{ from: 'm1', to: 'p1', relation: 'rests on', strength: 0.8 }],
      importance: [{ messageId: 'm1', score: 0.7 }],
    },
    conflicts: [],
  },
  understanding: {
    phase: 'understanding',
    step: 5,
    prose: false,
    attemptId: 's5.understanding',
    reply: { integrated: 'Opened in 1932.', assessments: [{ messageId: 'm1', relevance: 0.9, reason: 'on topic' }] },
    statistics: {
      messagesBefore: 4,
      messagesAfter: 3,
      tokensBefore: 40,
      tokensAfter: 30,
      tokensAllowed: 700,
      estimated: true,
      pruned: 1,
      summarized: 0,
      tokensOver: 0,
      messagesOver: 0,
    },
    pruningLog: [
      {
        operationId: 's5.o1',
        operation: 'PRUNE',
        messageId: 'p2',
        role: 'search',
        preview: 'The harbour',
        tokens: 10,
        relevance: 0.2,
        code: 'not_referenced',
        reason: 'nothing has referred to it since cycle 1',
      },
    ],
    problem: null,
  },
  yield: {
    phase: 'yield',
    step: 6,
    prose: false,
    attemptId: 's6.yield',
    reply: {
      answer: 'In 1932.',
      confidence: 0.95,
      taskComplete: true,
      informationSufficiency: 0.9,
      needsTools: false,
      proposedPhase: null,
      rationale: 'two sources agree',
      usedMessageIds: ['p1'],
      noEvidence: false,
      notes: '',
    },
  },
} as const satisfies PhaseResults;

export const aFinalAnswer = (changes: Partial<FinalAnswer> = {}): FinalAnswer => ({
  answerText: 'In 1932.',
  confidence: 0.95,
  usedStepIds: ['s1', 's6'],
  notes: '',
  ttlExhausted: false,
  status: 'completed',
  reasons: [],
  grounding: null,
  sources: [{ path: 'bridges.md', startLine: 3, endLine: 5, messageId: 'p1', quote: 'The bridge was opened' }],
  metadata: {
    degraded: false,
    reason: null,
    missingFields: [],
    synthesis: { writtenBy: 'model', fallback: null, error: null },
    decision: aDecision(),
    cycles: 1,
    refinements: 0,
    usage: { modelCalls: 7, inputTokens: 900, outputTokens: 300, estimated: true, cost: null },
    budget: {
      tokens: { limit: 1_000_000, used: 1_000, left: 999_000 },
      modelCalls: { limit: 100, used: 6, left: 94 },
      cost: { limit: null, used: 0.01, left: null },
      totalMs: { limit: 600_000, used: 1_500 },
      ttl: { limit: 5, used: 1, left: 4 },
      synthesisReserveTokens: { limit: 8_000, used: 200 },
    },
    cost: { amount: 0.01, currency: 'EUR', byTask: { yield: 0.01 }, savedByCache: 0 },
    failures: [aPhaseFailure()],
  },
  ...changes,
});

/** States of a run, with the changes a test is about. */

export const someLimits = (changes: Partial<Limits> = {}): Limits => ({ ...limitsSchema.parse({}), ...changes });
export const someThresholds = (changes: Partial<Thresholds> = {}): Thresholds => ({
  ...thresholdsSchema.parse({}),
  ...changes,
});

export const aChainInput = (changes: Partial<ChainInput> = {}): ChainInput => ({
  runId: 'r1',
  request: 'When was the bridge opened?',
  origin: 'action',
  mode: 'automatic',
  startedAtMs: 1_700_000_000_000,
  limits: someLimits(),
  thresholds: someThresholds(),
  profile: ONE_CALL_PER_PHASE,
  contextWindowTokens: 8_000,
  fallbackModels: 0,
  attachments: [],
  capabilities: [],
  continuation: 'none',
  policies: {},
  sessionId: null,
  consent: 'ask',
  consentFor: 'user-content',
  approver: 'user',
  prices: [],
  maxOutputTokens: [],
  currency: null,
  hasDocuments: false,
  hasEmbeddings: false,
  hasGrader: false,
  instructions: null,
  messages: [],
  ...changes,
});

type StateChanges = Partial<Omit<ChainState, 'recursion'>> & { readonly recursion?: Partial<RecursionState> };

export function aState({ recursion = {}, ...changes }: StateChanges = {}): ChainState {
  const state = initialState(aChainInput());
  return {
    ...state,
    steps: stepsOf(changes.results ?? state.results),
    ...changes,
    recursion: { ...state.recursion, ...recursion },
  };
}

/** The steps of phases that each ran once. */
function stepsOf({ action, experience, intention, observation, understanding, yield: answer }: ChainState['results']) {
  const outputs = action?.results.map(({ output }) => output) ?? [];
  const contents = [
    [action, [action?.reply.response, ...outputs].join('\n')],
    [experience, experience?.reply.summary],
    [intention, intention?.reply.goal],
    [observation, observation?.reply.insights.join('\n')],
    [understanding, understanding?.reply.integrated],
    [answer, answer?.reply.answer],
  ] as const;
  return contents.flatMap(([result, content = '']) =>
    result === null ? [] : [{ stepId: `s${result.step}`, phase: result.phase, content }],
  );
}

export const anAssessment = (changes: Partial<Assessment> = {}): Assessment => ({
  answer: 'In 1932.',
  toCompare: null,
  toGrade: false,
  gradingProblem: null,
  confidence: 0.5,
  change: null,
  changeBy: 'words',
  taskComplete: false,
  informationSufficiency: 0.8,
  evidence: {
    modelConfidence: 0.5,
    grounding: null,
    modelSufficiency: 0.8,
    sufficiency: null,
    claimsCompletion: false,
    claim: null,
    satisfaction: 0.1,
  },
  fingerprint: 'f',
  sketch: { terms: [], facts: [] },
  repeats: 0,
  proposal: 'action',
  proposedBy: 'policy',
  rationale: 'nothing in particular is missing',
  ...changes,
});

export const succeeded = (value: unknown): AttemptOutcome => ({
  ok: true,
  prose: false,
  value,
  execution: anExecution(),
});
export const failed = (changes: Partial<Failure> = {}): AttemptOutcome => ({
  ok: false,
  failure: aFailure(changes),
  execution: anExecution(),
});

/** Freezes a value and everything in it, so that any write to it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** A degraded answer as the engine composes it: its explanation is the end of its notes. */
export function aDegradedAnswer(changes: Partial<FinalAnswer> = {}): FinalAnswer {
  const answer = aFinalAnswer({
    answerText: 'Perhaps in 1932.',
    confidence: 0.4,
    status: 'degraded',
    reasons: [{ code: 'cycle_limit_reached', message: 'The limit of 1 cycle was reached.', cycles: 1, limit: 1 }],
    notes: 'The day is unsure. The limit of 1 cycle was reached.',
    ...changes,
  });
  const metadata = {
    ...answer.metadata,
    degraded: true,
    reason: 'cycle_limit_reached' as const,
    missingFields: ['experience', 'answer'],
  };
  return { ...answer, metadata };
}
