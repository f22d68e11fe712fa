import type { AttemptExecution, AttemptOutcome } from '../contracts/attempt.ts';
import type { ChainState, SharedReplies } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Failure } from '../contracts/failure.ts';
import type { Phase } from '../contracts/phase.ts';
import type { UnderstandingReply, YieldReply } from '../contracts/phase-io.ts';
import { assess } from './assessment.ts';
import { abortLoop, loopResult } from './capability-loop.ts';
import { failureOf, isOverBudget, unexpectedFailure } from './failures.ts';
import { wasNotMade, withAborted } from './model-status.ts';
import { earlyReply, finishEarlyCall, hasSharedCall, policyReply, sharedReply } from './phase-calls.ts';
import { phaseOutput } from './phase-output.ts';
import {
  chargeExecution,
  completePhase,
  DEFAULT_PHASE,
  failPhase,
  NOTHING_IN_FLIGHT,
  phaseAfter,
  visibleMessages,
} from './progress.ts';
import { proposedEvaluation } from './understanding.ts';
import { addCost, addUsage, phaseDeadlineMs, usageSoFar } from './usage.ts';

type Change = Partial<ChainState>;

/** Completes or fails a phase with the outcome of its attempt. In Yield, the answer is also assessed, and the cycle counts as completed. */
export function finishPhase(state: ChainState, phase: Phase, outcome: AttemptOutcome): Change {
  const charged = chargeExecution(state, outcome.execution);
  const chargedState = { ...state, ...charged };
  if (!outcome.ok)
    return { ...charged, ...failPhase(chargedState, phase, informativeFailure(outcome.execution, outcome.failure)) };
  const { value, prose, execution, phases = [] } = outcome;
  const attemptId = callOf(execution);
  if (phases.length < 2) return { ...charged, ...completeWithReply(chargedState, phase, { value, prose, attemptId }) };
  const { [phase]: own, ...replies } = value as SharedReplies['replies'];
  const shared = { attemptId: execution.id, cycle: state.recursion.cycle, prose, replies };
  return { ...charged, shared, ...completeWithReply(chargedState, phase, { value: own, prose, attemptId }) };
}

/** Returns the id of an execution; null if it made no call. */
const callOf = ({ id, usage }: AttemptExecution): string | null => (usage.modelCalls === 0 ? null : id);

/** A reply to a phase. `attemptId`: the attempt it is from; null if no model was called. */
interface GivenReply {
  readonly value: unknown;
  readonly prose: boolean;
  readonly attemptId: string | null;
}

function completeWithReply(state: ChainState, phase: Phase, given: GivenReply): Change {
  const output = phaseOutput(state, phase, given.value, given.prose);
  const settled = completePhase(state, output, given.attemptId);
  if (phase !== 'yield') return settled;
  const now = { ...state, ...settled };
  const { completedCycles } = state.recursion;
  return {
    ...settled,
    assessment: assess(now, visibleMessages(now), given.value as YieldReply),
    recursion: { ...state.recursion, completedCycles: completedCycles + 1 },
  };
}

/** Returns the reply that the current phase already has, and where it is from; null if the phase must make its own call. */
function knownReply(state: ChainState): (GivenReply & { readonly by: string }) | null {
  const { phase, shared } = state;
  const byPolicy = policyReply(state, phase);
  if (byPolicy !== undefined) return { by: 'policy', value: byPolicy, prose: false, attemptId: null };
  const part = sharedReply(state, phase);
  if (part !== undefined && shared !== null) return { by: 'shared call', value: part, ...shared };
  const early = earlyReply(state);
  return early && { by: 'early call', value: early.value, prose: early.prose ?? false, attemptId: early.attemptId };
}

/** Whether the current phase already has its reply: by policy, from a shared call, or from a call that started early. */
export function replyIsKnown(state: ChainState): GuardResult {
  const known = knownReply(state);
  return { holds: known !== null, inputs: { by: known?.by ?? null } };
}

/** Whether a shared call has rated the messages of the context, unless Understanding was entered early to make the context fit. */
export function ratingsAreKnown(state: ChainState): GuardResult {
  const { detour, shared } = state;
  const isKnown = sharedReply(state, 'understanding') !== undefined;
  return { holds: isKnown && !detour, inputs: { attempt: isKnown ? (shared?.attemptId ?? null) : null, detour } };
}

/** Returns the state without the reply that the current phase takes; an early call is charged. */
function takeReply(state: ChainState, by: string): Change {
  if (by === 'early call') return finishEarlyCall(state);
  const { phase, shared } = state;
  if (by === 'policy' || shared === null) return {};
  const { [phase]: _, ...replies } = shared.replies;
  return { shared: { ...shared, replies } };
}

export function completeKnownPhase(state: ChainState): Change {
  const known = knownReply(state);
  if (known === null) return {};
  const taken = takeReply(state, known.by);
  return { ...taken, ...completeWithReply({ ...state, ...taken }, state.phase, known) };
}

/**
 * Settles what is aborted in flight: its usage is charged, and the results of a capability loop become Action's result, so that
 * no finished capability run is lost or repeated.
 */
export function closeAborted(state: ChainState, cause: string): Change {
  const { evaluation, inFlight, phase } = state;
  const { usage, loop } = inFlight;
  const used = usageSoFar(usage);
  const charged = {
    usage: addUsage(state.usage, used),
    // Once Understanding has its evaluation, it asks only for summaries.
    costs: addCost(state.costs, evaluation === null ? phase : 'summary', used),
    inFlight: NOTHING_IN_FLIGHT,
  };
  if (loop === null) return charged;
  const chargedState = { ...state, ...charged };
  return {
    ...charged,
    ...completePhase(
      chargedState,
      phaseOutput(chargedState, 'action', loopResult(abortLoop(loop, cause))),
      callOf(loop.execution),
    ),
  };
}

/** First half of Understanding: the proposed operations. None applies before consent is settled. */
export function recordEvaluation(state: ChainState, outcome: AttemptOutcome): Change {
  if (!outcome.ok) return finishPhase(state, 'understanding', outcome);
  const { value, prose, execution, phases = [] } = outcome;
  const isShared = phases.length > 1;
  const { understanding: own, ...replies } = isShared ? (value as SharedReplies['replies']) : { understanding: value };
  return {
    ...chargeExecution(state, execution),
    ...(isShared && { shared: { attemptId: execution.id, cycle: state.recursion.cycle, prose, replies } }),
    evaluation: proposedEvaluation(state, own as UnderstandingReply, { prose, attemptId: callOf(execution) }),
  };
}

/** First half of Understanding, with the ratings of a shared call. */
export function recordKnownEvaluation(state: ChainState): Change {
  const known = knownReply(state);
  if (known === null) return {};
  const evaluation = proposedEvaluation(state, known.value as UnderstandingReply, known);
  return { ...takeReply(state, known.by), evaluation };
}

/** Second half of Understanding: consent is settled, the operations are appended. */
export function applyEvaluation(state: ChainState): Change {
  const { evaluation } = state;
  return completePhase(state, phaseOutput(state, 'understanding', evaluation?.reply), evaluation?.attemptId);
}

/** Fails the phase because its actor threw, which is a bug or a missing actor. */
export function failByError(state: ChainState, phase: Phase, error: unknown): Change {
  const failure = unexpectedFailure(error);
  const aborted = closeAborted(state, failure.message);
  return { ...aborted, ...failUnfinished({ ...state, ...aborted }, phase, failure) };
}

/** Fails the phase with a deadline. A call in flight that has returned no byte by then has hung. */
export function timeOutPhase(state: ChainState, phase: Phase): Change {
  const failure = phaseTimeout(state, phase);
  const aborted = closeAborted(state, failure.message);
  const models = withAborted(state.models, state.inFlight.usage.call);
  return { ...aborted, models, ...failUnfinished({ ...state, ...aborted }, phase, failure) };
}

/** Fails the phase, unless an aborted capability loop left a result. */
function failUnfinished(state: ChainState, phase: Phase, failure: Failure): Change {
  const failed = failPhase(state, phase, failure);
  return hasResult(state, phase) ? { ...failed, failure: null, direction: phaseAfter(phase) ?? DEFAULT_PHASE } : failed;
}

export function phaseTimeout({ limits }: ChainState, phase: Phase): Failure {
  return failureOf(
    'deadline',
    'phase_deadline',
    `${phase} did not finish within ${phaseDeadlineMs(limits, phase)} ms.`,
  );
}

function hasResult({ results, recursion }: ChainState, phase: Phase): boolean {
  return results[phase]?.step === recursion.step;
}

/** Whether the phase was aborted but left a result: the run continues from there and repeats nothing. */
export function phaseSaved({ failure, direction }: ChainState): GuardResult {
  return { holds: failure === null, inputs: { direction } };
}

/**
 * The failure to report for a phase. If the last model was unreachable but an earlier one answered with an invalid
 * reply, the latter is more informative: models are available, and the next phase may succeed. So is any failure of a
 * call, compared with that of a model that was not called.
 */
function informativeFailure({ attempts }: AttemptExecution, failure: Failure): Failure {
  if (!isUnreachable(failure)) return failure;
  const lastOf = new Map(attempts.map((attempt) => [attempt.model, attempt.failure]));
  const called = [...lastOf.values()].filter((last) => last !== null && !wasNotMade(last));
  const answered = called.find((last) => last !== null && !isUnreachable(last));
  return answered ?? (wasNotMade(failure) ? called.at(-1) : failure) ?? failure;
}

/** Whether a call did not reach its model. A prompt that is too long fails only its own phase: another one is shorter. */
function isUnreachable({ stage, code }: Failure): boolean {
  return stage === 'transport' && code !== 'prompt_too_long';
}

/**
 * Whether the model's calls never succeeded: the attempt machine already retried them, so the next phase would fail
 * too.
 */
export function modelUnavailable({ failure }: ChainState): GuardResult {
  const { stage = null, code = null } = failure?.failure ?? {};
  return { holds: failure !== null && isUnreachable(failure.failure), inputs: { stage, code } };
}

/** Whether the phase is repeated: its failure may be temporary, or the prompt for several phases is too long, and its own is shorter. */
export function phaseMayRepeat(state: ChainState): GuardResult {
  const { failure, phaseRetries, limits } = state;
  const isTooLong = failure?.failure.code === 'prompt_too_long' && hasSharedCall(state, state.phase);
  const retryable = isTooLong || (failure?.failure.retryable ?? false);
  const { maxPhaseRetries } = limits;
  return { holds: retryable && phaseRetries < maxPhaseRetries, inputs: { retryable, phaseRetries, maxPhaseRetries } };
}

/** Whether the run can continue without the phase: any but Yield, which decides. */
export function phaseMayBeSkipped({ failure }: ChainState): GuardResult {
  const phase = failure?.phase ?? null;
  return { holds: phase !== null && phase !== 'yield', inputs: { phase } };
}

export function costLimitReached({ failure, usage, limits }: ChainState): GuardResult {
  const inputs = { cost: usage.cost, maxCost: limits.maxCost, code: failure?.failure.code ?? null };
  return { holds: failure !== null && isOverBudget(failure.failure), inputs };
}
