import type { ActionInput } from '../contracts/action-state.ts';
import {
  type AttemptInput,
  type AttemptPolicy,
  type CallAheadInput,
  DEFAULT_POLICY,
  type EarlyReply,
  type PolicyNumbers,
} from '../contracts/attempt.ts';
import type { ChainState, EarlyCall } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Message } from '../contracts/message.ts';
import { PHASES, type Phase, type Task } from '../contracts/phase.ts';
import type { ActionResult, Flag, PhaseInput, Replies, RunProgress } from '../contracts/phase-io.ts';
import type { CallMode } from '../contracts/profile.ts';
import { contradictionsIn } from '../heuristics/contradiction.ts';
import { wideDigest } from '../text/hash.ts';
import { isOverride, resolveConsent } from './consent.ts';
import { applyOperations, asksConsent, KEPT_BY_DEFAULT, KEPT_BY_USER, REQUEST } from './context.ts';
import { unexpectedFailure } from './failures.ts';
import { startRoute, wasNotMade } from './model-status.ts';
import { isUnclear, phaseOutput } from './phase-output.ts';
import { completePhase, enterPhase, visibleMessages } from './progress.ts';
import { contextTokens, evaluateContext, NOT_RATED, summaryInput } from './understanding.ts';
import {
  addCall,
  addCost,
  addUsage,
  callUsage,
  costExceeds,
  instructionsFor,
  NO_USAGE,
  phaseDeadlineMs,
  remainingCost,
  TOKENS_PER_CHAR,
  textChars,
  tokensAllowed,
  tokensOfChars,
} from './usage.ts';

type ReadingPhase = Exclude<Phase, 'action' | 'yield'>;
type InputOf<P extends Phase> = Extract<PhaseInput, { phase: P }>;

function phaseInput<P extends Phase>(state: ChainState, phase: P): InputOf<P> {
  return INPUTS[phase](state) as InputOf<P>;
}

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
  const { limits, continuation, approver, sessionId } = state;
  return {
    id: executionId(state, 'action'),
    identity: state.identity ?? state.runId,
    input: phaseInput(state, 'action'),
    instructions: instructionsFor(state, 'action'),
    policy: attemptPolicy(state, 'action'),
    continuationPolicy: attemptPolicy(state, 'continuation'),
    models: state.models,
    decider: continuation,
    approver,
    approvalMs: limits.approvalMs,
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

export function phaseAttempt(state: ChainState): AttemptInput {
  const { phase } = state;
  const phases = briefPhases(state, phase);
  const policy = attemptPolicy(state, phase);
  const { maxCorrections } = policy;
  return {
    id: executionId(state, phase),
    task: phase,
    input: phaseInput(state, phase),
    instructions: instructionsFor(state, phase),
    ...(phases.length > 0 && { phases }),
    // A model that cannot correct a reply for several phases at once may still manage one for a single phase.
    policy: phases.length > 1 ? { ...policy, maxCorrections: Math.min(1, maxCorrections) } : policy,
    models: state.models,
    hasParent: true,
  };
}

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

function attemptPolicy(state: ChainState, task: Task): AttemptPolicy {
  const { limits, usage, phase, early } = state;
  const maxCalls = Math.max(1, limits.maxModelCalls - usage.modelCalls - (early === null ? 0 : 1));
  const parentMs = phaseDeadlineMs(limits, phase);
  const maxTokens = Math.max(1, remainingTokens(state));
  const ownSchema = state.profile.yield !== 'own';
  return { ...callLimits(state, task), parentMs, maxCalls, maxTokens, ownSchema, ...costBounds(state) };
}

export function costBounds(state: ChainState): Pick<AttemptPolicy, 'maxCost' | 'promptTokens'> {
  const { modelCalls, inputTokens } = state.usage;
  return { maxCost: remainingCost(state), promptTokens: modelCalls === 0 ? 0 : Math.ceil(inputTokens / modelCalls) };
}

function remainingTokens({ limits, usage }: ChainState): number {
  return Math.max(0, limits.maxTokens - usage.inputTokens - usage.outputTokens);
}

export type CallBounds = Pick<ChainState, 'limits' | 'prices' | 'maxOutputTokens' | 'fallbackModels' | 'policies'>;

/** Returns the policy of a task's calls; what neither the limits nor the task's policy set has its default. */
export function callLimits(bounds: CallBounds, task: Task): AttemptPolicy {
  const { limits, prices, maxOutputTokens, fallbackModels, policies } = bounds;
  const { maxCorrections, maxTransportRetries, maxHungCalls, firstChunkMs, chunkMs, totalMs } = limits;
  const { backoffBaseMs, backoffMaxMs, maxReplyChars } = limits;
  return {
    ...DEFAULT_POLICY,
    prices,
    maxOutputTokens,
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

export function executionId({ recursion }: ChainState, task: string): string {
  return `s${recursion.step}.${task}`;
}

/** The latest view of each context that is too large, because a phase requests the same view several times. */
const views = new WeakMap<readonly Message[], { readonly key: string; readonly view: readonly Message[] }>();

/**
 * Whether consent is settled before the first step, because nothing else can make the context fit: it exceeds the limit
 * even without everything that needs no consent, and the user (or an option) may release some of it.
 */
export function contextMustShrink(state: ChainState): GuardResult {
  const fits = promptFits(state);
  const { step } = state.recursion;
  const isUseless = fits.holds || step > 0 || state.consent === 'keep';
  const askable = isUseless ? 0 : planned(state, true).operations.filter(asksConsent).length;
  return { holds: askable > 0, inputs: { ...fits.inputs, step, askable } };
}

/**
 * Whether a model is asked to rate the context: the profile says so, the context fits into a prompt, and Understanding was not
 * entered early to make it fit.
 */
export function modelMayRate(state: ChainState): GuardResult {
  const { detour } = state;
  const fits = promptFits(state);
  const calls = callModeOf(state, 'understanding');
  return { holds: fits.holds && !detour && calls !== 'policy', inputs: { ...fits.inputs, detour, calls } };
}

function promptFits(state: ChainState): GuardResult {
  const tokens = contextTokens(state, promptMessages(state));
  const allowed = tokensAllowed(state);
  return { holds: tokens <= allowed, inputs: { tokens, tokensAllowed: allowed } };
}

/**
 * Returns the messages to show to a model: the entire context or, if a long history exceeds the limit before
 * Understanding has run, what would remain of it without asking the user. The context itself does not change.
 */
function promptMessages(state: ChainState): readonly Message[] {
  const messages = visibleMessages(state);
  const allowed = tokensAllowed(state);
  if (contextTokens(state, messages) <= allowed) return messages;
  const { request, tokensPerChar, thresholds, limits, recursion } = state;
  const key = JSON.stringify([request, tokensPerChar, allowed, thresholds, limits.maxMessages, recursion.cycle]);
  const known = views.get(messages);
  if (known?.key === key) return known.view;
  const unasked = planned(state, false).operations.filter((operation) => !asksConsent(operation));
  const view = applyOperations(messages, unasked);
  views.set(messages, { key, view });
  return view;
}

const planned = (state: ChainState, mayAsk: boolean) =>
  evaluateContext(state, visibleMessages(state), NOT_RATED, mayAsk);

/** After this many cycles, Yield makes its own call even if the profile lets it share one: reading in a separate call may help. */
const ONE_CALL_CYCLES = 2;

function callModeOf(state: ChainState, phase: Phase): CallMode | 'brief' {
  const { profile, capabilities, recursion } = state;
  if (phase === 'action') return profile.action === 'if-needed' && capabilities.length === 0 ? 'policy' : 'own';
  if (phase === 'yield')
    return profile.yield === 'shared' && recursion.cycle > ONE_CALL_CYCLES ? 'brief' : profile.yield;
  const isReading = profile[phase] === 'shared' && callModeOf(state, 'yield') !== 'shared';
  return isReading && hasNothingToRead(state) ? 'policy' : profile[phase];
}

function hasNothingToRead(state: ChainState): boolean {
  const passages = state.retrieval?.found.passages ?? [];
  return passages.length === 0 && visibleMessages(state).every(({ tags }) => tags.includes(REQUEST));
}

/**
 * Returns the phases that the brief reply to a phase is for, including itself; empty if its reply has all fields. A phase shares its call
 * with the phases after it, up to the first that makes its own call or must rate the context. After a failure, each phase of the cycle
 * makes its own call, because a weak model is more likely to manage that.
 */
function briefPhases(state: ChainState, phase: Phase): readonly Phase[] {
  if (hasFailed(state) || (phase === 'understanding' && !contextHasRoom(state).holds)) return [];
  const mode = callModeOf(state, phase);
  if (mode === 'brief') return [phase];
  if (mode !== 'shared') return [];
  const later = PHASES.slice(PHASES.indexOf(phase) + 1);
  const end = later.findIndex(
    (each) =>
      ['own', 'brief'].includes(callModeOf(state, each)) || (each === 'understanding' && !contextHasRoom(state).holds),
  );
  const next = end === -1 ? later : later.slice(0, end);
  return [
    phase,
    ...next.filter((each) => callModeOf(state, each) === 'shared' && sharedReply(state, each) === undefined),
  ];
}

const hasFailed = ({ failures, recursion }: ChainState): boolean =>
  failures.some(({ cycle, phase }) => cycle === recursion.cycle && phase !== 'action');

/** Whether the context and the new passages are within the limits, so that Understanding has nothing to ask the user. */
function contextHasRoom(state: ChainState): GuardResult {
  const messages = visibleMessages(state);
  const known = new Set(messages.map(({ id }) => id));
  const passages = (state.retrieval?.found.passages ?? []).filter(({ id }) => !known.has(id));
  const tokens = contextTokens(state, messages) + Math.ceil(textChars(passages) * state.tokensPerChar);
  const inputs = {
    tokens,
    tokensAllowed: tokensAllowed(state),
    messages: messages.length + passages.length,
    maxMessages: state.limits.maxMessages,
  };
  return { holds: tokens <= inputs.tokensAllowed && inputs.messages <= inputs.maxMessages, inputs };
}

/** Whether one call reads and answers: Yield shares the call of this phase. */
export function answersInOneCall(state: ChainState): GuardResult {
  const { phase, recursion } = state;
  return {
    holds: briefPhases(state, phase).includes('yield'),
    inputs: {
      yield: callModeOf(state, 'yield'),
      cycle: recursion.cycle,
      failed: hasFailed(state),
      ...contextHasRoom(state).inputs,
    },
  };
}

/** Whether the failed call was for several phases, so that a call for one of them is easier. */
export const hasSharedCall = (state: ChainState, phase: Phase): boolean =>
  state.phaseRetries === 0 && callModeOf(state, phase) === 'shared';

export function sharedReply({ shared, recursion }: ChainState, phase: Phase): unknown {
  return shared?.cycle === recursion.cycle ? shared.replies[phase] : undefined;
}

/** The replies of phases that run by policy, without a model. That of Action is the result of its loop. */
const POLICY_REPLIES: Pick<{ readonly [P in Phase]: (state: ChainState) => Replies[P] }, ReadingPhase> & {
  readonly action: () => Omit<ActionResult, 'phase' | 'step'>;
  readonly yield: () => undefined;
} = {
  action: () => ({
    reply: { response: '', confidence: 0, calls: [] },
    prose: false,
    results: [],
    runs: 0,
    stopReason: 'nothing_to_run',
    problem: null,
    memory: [],
  }),
  yield: () => undefined,
  experience: ({ retrieval }) => {
    const passages = retrieval?.found.passages ?? [];
    const confidence = Math.max(0, ...passages.map(({ relevance }) => relevance));
    return { summary: '', relevantPassageIds: passages.map(({ id }) => id), missing: [], confidence };
  },
  intention: ({ request }) => {
    const unclearIntent = contradictionsIn(request).length > 0;
    return { goal: '', alternatives: [], clarity: unclearIntent ? 0 : 1, unclearIntent, alignment: [] };
  },
  observation: () => ({ insights: [], undigested: false, entities: [], connections: [], importance: [] }),
  understanding: () => NOT_RATED,
};

export function policyReply(state: ChainState, phase: Phase): unknown {
  return callModeOf(state, phase) === 'policy' ? POLICY_REPLIES[phase](state) : undefined;
}

/** An early call starts only if this many prompts like its own fit into the tokens that the run has left. */
const PROMPTS_LEFT = 4;

/**
 * Returns the model call of a later phase to start now; null if the profile does not allow it, or if the run could not afford to make the
 * call twice. Observation reads what Intention reads, so their calls run at the same time. Yield's call runs while the user is asked for
 * consent, as if everything were kept.
 */
export function earlyCall(
  state: ChainState,
  task: EarlyCall['task'],
): { readonly early: EarlyCall; readonly input: CallAheadInput } | null {
  const { profile, detour } = state;
  const isIndependent = task === 'yield' ? !detour : callModeOf(state, 'observation') === 'own';
  if (!profile.earlyCalls || !isIndependent) return null;
  const attempt = phaseAttempt(entered(task === 'yield' ? afterKeeping(state) : state, task));
  const { model } = startRoute(task, state.models, attempt.policy);
  if (model === null) return null;
  const price = state.prices[model] ?? null;
  const promptChars = Math.max(textChars(attempt.input), charsOfEarlierPrompts(state));
  // Reserve this call, the phase's own call in case this one is discarded, and for Observation also Intention's.
  const calls = task === 'observation' ? 3 : 2;
  if (attempt.policy.maxCalls <= calls || remainingTokens(state) < PROMPTS_LEFT * tokensOfChars(promptChars))
    return null;
  // The early call gets an equal share of the cost that is left, so that those after it can still be made.
  const left = remainingCost(state);
  const maxCost = left && left / calls;
  const policy = { ...attempt.policy, maxCost };
  if (costExceeds(policy, model, 0, tokensOfChars(promptChars)).holds) return null;
  const maxOutputTokens = policy.maxOutputTokens[model] ?? null;
  const call = { input: null, model, promptChars, isAlive: false, replyChars: 0, usage: null, price, maxOutputTokens };
  // The phase may make its own call, which has another id in the journal.
  const attemptId = `${attempt.id}.early`;
  const early: EarlyCall = {
    task,
    ...(attempt.phases && { phases: attempt.phases }),
    digest: attemptDigest(attempt),
    attemptId,
    call,
    maxCost,
    result: null,
  };
  return { early, input: { attemptId, task, attempt: { ...attempt, id: attemptId, policy } } };
}

/** The instructions and the schema are most of a short prompt, so its size is estimated from that of the calls before. */
function charsOfEarlierPrompts({ usage }: ChainState): number {
  return usage.modelCalls === 0 ? 0 : Math.ceil(usage.inputTokens / usage.modelCalls / TOKENS_PER_CHAR);
}

const entered = (state: ChainState, phase: Phase): ChainState => ({ ...state, ...enterPhase(state, phase) });

function afterKeeping(state: ChainState): ChainState {
  const { evaluation } = state;
  const kept = evaluation && { ...evaluation, operations: resolveConsent(evaluation.operations, 'keep') };
  const consented = { ...state, consentAsked: true, evaluation: kept };
  return { ...consented, ...completePhase(consented, phaseOutput(consented, 'understanding', kept?.reply)) };
}

export function failedEarlyReply(error: unknown): EarlyReply {
  const usage = { inputTokens: 0, outputTokens: 0, estimated: true };
  return { value: null, failure: unexpectedFailure(error), usage, openedAtMs: 0, atMs: 0 };
}

/** Who kept a message does not matter: no built-in prompt of a phase that starts early shows it. */
const BOOKKEEPING: ReadonlySet<unknown> = new Set([KEPT_BY_USER, KEPT_BY_DEFAULT]);

/** Returns a digest of everything that the prompt of an attempt is rendered from. */
function attemptDigest({ task, input, instructions, phases }: AttemptInput): string {
  return wideDigest(
    JSON.stringify([task, input, instructions, phases], (name, value) =>
      name === 'tags' ? value.filter((tag: unknown) => !BOOKKEEPING.has(tag)) : value,
    ),
  );
}

/** Returns the early call of the current phase, if the phase would make the same one. */
function fittingCall(state: ChainState): EarlyCall | null {
  const { early, phase } = state;
  return early?.task === phase && early.digest === attemptDigest(phaseAttempt(state)) ? early : null;
}

/** Returns the reply of a call of the current phase that started early with the same prompt; null if there is none. */
export function earlyReply(state: ChainState): (EarlyReply & Pick<EarlyCall, 'attemptId'>) | null {
  const early = fittingCall(state);
  const result = early?.result ?? null;
  return early === null || result === null || result.failure !== null
    ? null
    : { ...result, attemptId: early.attemptId };
}

/** Whether the current phase must make its own call: no call with the same prompt started early, or that call has ended. */
export function callIsDue(state: ChainState): GuardResult {
  const call = fittingCall(state);
  const early = call === null ? 'none' : call.result === null ? 'in progress' : 'ended';
  return { holds: early !== 'in progress', inputs: { early } };
}

/** Returns the changes when the early call is used or discarded: it is charged to its task. */
export function finishEarlyCall(state: ChainState): Partial<ChainState> {
  const { early, usage, costs, lastMessageAtMs } = state;
  if (early === null) return {};
  const isMade = !wasNotMade(early.result?.failure ?? null);
  const used = isMade ? addCall(NO_USAGE, usageOfEarly(early), early.call.price) : NO_USAGE;
  return {
    early: null,
    usage: addUsage(usage, used),
    costs: addCost(costs, early.task, used),
    lastMessageAtMs: Math.max(lastMessageAtMs, early.result?.atMs ?? 0),
  };
}

export const usageOfEarly = ({ call, result }: EarlyCall) => callUsage({ ...call, usage: result?.usage ?? null });
