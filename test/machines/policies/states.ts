import type { AttemptOutcome } from '../../../machines/contracts/attempt.ts';
import type { ChainInput, ChainState, RecursionState } from '../../../machines/contracts/chain-state.ts';
import type { Assessment } from '../../../machines/contracts/decision.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { type Limits, limitsSchema, type Thresholds, thresholdsSchema } from '../../../machines/contracts/limits.ts';
import { initialState } from '../../../machines/policies/progress.ts';
import { aFailure, anExecution } from '../contracts/samples.ts';

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
  contextWindowTokens: 8_000,
  fallbackModels: 0,
  capabilities: [],
  decider: 'none',
  sessionId: null,
  prices: [],
  currency: null,
  hasDocuments: false,
  hasEmbeddings: false,
  messages: [],
  ...changes,
});

type StateChanges = Partial<Omit<ChainState, 'recursion'>> & { readonly recursion?: Partial<RecursionState> };

export function aState({ recursion = {}, ...changes }: StateChanges = {}): ChainState {
  const state = initialState(aChainInput());
  return { ...state, ...changes, recursion: { ...state.recursion, ...recursion } };
}

export const anAssessment = (changes: Partial<Assessment> = {}): Assessment => ({
  answer: 'In 1932.',
  toCompare: null,
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
  repeats: 0,
  proposal: 'action',
  proposedBy: 'policy',
  rationale: 'nothing in particular is missing',
  ...changes,
});

export const succeeded = (value: unknown): AttemptOutcome => ({ ok: true, value, execution: anExecution() });
export const failed = (changes: Partial<Failure> = {}): AttemptOutcome => ({
  ok: false,
  failure: aFailure(changes),
  execution: anExecution(),
});
