import type { ActionInput } from '../contracts/action-state.ts';
import { type AttemptInput, type AttemptPolicy, DEFAULT_POLICY, type PolicyNumbers } from '../contracts/attempt.ts';
import type { ChainState } from '../contracts/chain-state.ts';
import { PHASES, type Phase, type Task } from '../contracts/phase.ts';
import type { Flag, PhaseInput, RunProgress } from '../contracts/phase-io.ts';
import { instructionsFor } from './instructions.ts';
import { phaseDeadlineMs } from './limits.ts';
import { isOverride } from './overrides.ts';
import { isUnclear } from './phase-output.ts';
import { promptMessages } from './prompt-window.ts';
import { phasesSharedWith } from './shared-calls.ts';
import { summaryInput } from './understanding.ts';

type InputOf<P extends Phase> = Extract<PhaseInput, { phase: P }>;

/** Returns the input of a phase. */
export function phaseInput<P extends Phase>(state: ChainState, phase: P): InputOf<P> {
  return INPUTS[phase](state) as InputOf<P>;
}

/** Builds the input of each phase: the common fields and those of the phase. */
const INPUTS: { readonly [P in Phase]: (state: ChainState) => InputOf<P> } = {
  action: (state) => ({ phase: 'action', ...common(state), capabilities: state.capabilities }),
  experience: (state) => ({
    phase: 'experience',
    ...common(state),
    passages: state.retrieval?.found.passages ?? [],
  }),
  intention: (state) => ({ phase: 'intention', ...common(state) }),
  observation: (state) => ({ phase: 'observation', ...common(beforeIntention(state)) }),
  understanding: (state) => ({ phase: 'understanding', ...common(state) }),
  yield: (state) => ({
    phase: 'yield',
    ...common(state),
    previousAnswer: state.assessment?.answer ?? '',
    flags: flags(state),
    phases: PHASES,
    progress: progress(state),
  }),
};

/**
 * Returns the input of Action's capability loop; its limits are what the run has left. A later Action continues the loop of
 * the earlier ones and reuses their classification of the request.
 */
export function actionInput(state: ChainState): ActionInput {
  const { limits, decider, sessionId } = state;
  return {
    id: executionId(state, 'action'),
    input: phaseInput(state, 'action'),
    instructions: instructionsFor(state, 'action'),
    policy: attemptPolicy(state, 'action'),
    continuationPolicy: attemptPolicy(state, 'continuation'),
    models: state.models,
    decider,
    maxContinuations: limits.maxContinuations,
    maxParallelCalls: limits.maxParallelCalls,
    maxSameCalls: limits.maxSameCalls,
    capabilityMs: limits.capabilityMs,
    maxResultChars: limits.maxResultChars,
    maxTokens: remainingTokens(state),
    sessionId,
    calls: [],
    earlier: earlierLoop(state),
    hasParent: true,
  };
}

/** Returns the capability loop of the run's earlier Actions, without the classification if the user gave a new prompt. */
function earlierLoop({ results: { action }, newPrompt }: ChainState): ActionInput['earlier'] {
  if (action === null || !newPrompt) return action;
  return { ...action, reply: null, prose: false };
}

/** Returns the input of the current phase's attempt. */
export function phaseAttempt(state: ChainState): AttemptInput {
  const { phase } = state;
  const sharedWith = phasesSharedWith(state, phase);
  return {
    id: executionId(state, phase),
    task: phase,
    input: phaseInput(state, phase),
    instructions: instructionsFor(state, phase),
    ...(sharedWith.length > 0 && { sharedWith }),
    policy: attemptPolicy(state, phase),
    models: state.models,
    hasParent: true,
  };
}

/** Returns the input of the attempt that writes Understanding's summaries. */
export function summaryAttempt(state: ChainState): AttemptInput {
  return {
    id: executionId(state, 'summary'),
    task: 'summary',
    input: summaryInput(state),
    policy: attemptPolicy(state, 'summary'),
    models: state.models,
    hasParent: true,
  };
}

/**
 * Returns the state with the context that Intention received, because Observation reads the same: their calls may run at the same time.
 * What the user decided since applies to both.
 */
function beforeIntention(state: ChainState): ChainState {
  const { envelope, received } = state;
  return envelope.phase === 'intention'
    ? { ...state, envelope: { ...envelope, content: received, operations: envelope.operations.filter(isOverride) } }
    : state;
}

function common(state: ChainState) {
  const { runId, request, recursion, envelope } = state;
  return {
    runId,
    request,
    prompt: recursion.continuationPrompt ?? request,
    cycle: recursion.cycle,
    step: recursion.step,
    content: envelope.content,
    messages: promptMessages(state),
  };
}

/** The number of failures that are passed to Yield. */
const SHOWN_FAILURES = 4;

function progress(state: ChainState): RunProgress {
  const { limits, results, decisions, usage, corrections, failures, recursion } = state;
  const { action, experience, intention, understanding } = results;
  const confidences: readonly (readonly [Phase, number | undefined])[] = [
    ['action', action?.reply.confidence],
    ['experience', experience?.reply.confidence],
    ['intention', intention?.reply.clarity],
  ];
  return {
    maxCycles: limits.maxCycles,
    confidences: confidences.flatMap(([phase, confidence]) =>
      confidence === undefined ? [] : [{ phase, confidence }],
    ),
    decisions: decisions.filter(({ cycle }) => cycle < recursion.cycle),
    context: understanding?.statistics ?? null,
    modelCalls: usage.modelCalls,
    tokens: usage.inputTokens + usage.outputTokens,
    corrections,
    failures: failures
      .slice(-SHOWN_FAILURES)
      .map(({ phase, cycle, failure }) => `${phase} in cycle ${cycle}: ${failure.message}`),
  };
}

function flags({ results, retrieval }: ChainState): readonly Flag[] {
  const raised: Flag[] = [];
  if (isUnclear(results)) raised.push('unclear_intent');
  if (results.observation?.reply.undigested) raised.push('undigested_insights');
  if (retrieval?.failure || results.experience?.sourceFailure) raised.push('source_failed');
  return raised;
}

/** Returns the limits of one task's model calls: the calls and tokens that the run has left. */
export function attemptPolicy(state: ChainState, task: Task): AttemptPolicy {
  const { limits, usage, phase, early } = state;
  const maxCalls = Math.max(1, limits.maxModelCalls - usage.modelCalls - (early === null ? 0 : 1));
  const parentMs = phaseDeadlineMs(limits, phase);
  return { ...callLimits(state, task), parentMs, maxCalls, maxTokens: Math.max(1, remainingTokens(state)) };
}

/** Returns the tokens that the run has left for its phases. */
export function remainingTokens({ limits, usage }: ChainState): number {
  return Math.max(0, limits.maxTokens - usage.inputTokens - usage.outputTokens);
}

/** Bounds the calls of a run: its limits and its models. */
export type CallBounds = Pick<ChainState, 'limits' | 'prices' | 'fallbackModels' | 'policies'>;

/** Returns the policy of a task's calls; what neither the limits nor the task's policy set has its default. */
export function callLimits({ limits, prices, fallbackModels, policies }: CallBounds, task: Task): AttemptPolicy {
  const { maxCorrections, maxTransportRetries, maxHungCalls, firstChunkMs, chunkMs, totalMs } = limits;
  const { backoffBaseMs, backoffMaxMs, maxReplyChars } = limits;
  return {
    ...DEFAULT_POLICY,
    prices,
    maxFallbacks: fallbackModels,
    maxCorrections,
    maxTransportRetries,
    maxHungCalls,
    triesReplyForms: true,
    firstChunkMs,
    chunkMs,
    totalMs,
    parentMs: null,
    backoffBaseMs,
    backoffMaxMs,
    maxReplyChars,
    ...(policies[task] as Partial<PolicyNumbers> | undefined),
  };
}

/** Returns the id of an execution, made from its step and task. */
export function executionId({ recursion }: ChainState, task: string): string {
  return `s${recursion.step}.${task}`;
}
