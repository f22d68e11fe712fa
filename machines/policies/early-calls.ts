import type { AttemptInput, CallAheadInput, EarlyReply } from '../contracts/attempt.ts';
import type { ChainState, EarlyCall } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { Phase } from '../contracts/phase.ts';
import { wideDigest } from '../text/hash.ts';
import { resolveConsent } from './consent.ts';
import { KEPT_BY_DEFAULT, KEPT_BY_USER } from './context.ts';
import { unexpectedFailure } from './failures.ts';
import { startRoute } from './model-status.ts';
import { phaseAttempt, remainingTokens } from './phase-input.ts';
import { phaseOutput } from './phase-output.ts';
import { completePhase, enterPhase } from './progress.ts';
import { callModeOf } from './shared-calls.ts';
import { addCall, addCost, addUsage, callUsage, NO_USAGE, TOKENS_PER_CHAR, textChars, tokensOfChars } from './usage.ts';

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
  // The call itself, perhaps in vain, and that of its phase; for Observation, that of Intention too.
  const calls = task === 'observation' ? 3 : 2;
  if (attempt.policy.maxCalls <= calls || remainingTokens(state) < PROMPTS_LEFT * tokensOfChars(promptChars))
    return null;
  const call = { input: null, model, promptChars, isAlive: false, replyChars: 0, usage: null, price };
  // The phase may make its own call, which has another id in the journal.
  const attemptId = `${attempt.id}.early`;
  const early: EarlyCall = { task, digest: attemptDigest(attempt), attemptId, call, result: null };
  return { early, input: { attemptId, task, attempt: { ...attempt, id: attemptId } } };
}

/** The instructions and the schema are most of a short prompt, so its size is estimated from that of the calls before. */
function charsOfEarlierPrompts({ usage }: ChainState): number {
  return usage.modelCalls === 0 ? 0 : Math.ceil(usage.inputTokens / usage.modelCalls / TOKENS_PER_CHAR);
}

const entered = (state: ChainState, phase: Phase): ChainState => ({ ...state, ...enterPhase(state, phase) });

/** Returns the state after Understanding if the user keeps everything. */
function afterKeeping(state: ChainState): ChainState {
  const { evaluation } = state;
  const kept = evaluation && { ...evaluation, operations: resolveConsent(evaluation.operations, 'keep') };
  const consented = { ...state, consentAsked: true, evaluation: kept };
  return { ...consented, ...completePhase(consented, phaseOutput(consented, 'understanding', kept?.reply)) };
}

/** Returns the result of a call whose actor failed. */
export function failedEarlyReply(error: unknown): EarlyReply {
  const usage = { inputTokens: 0, outputTokens: 0, estimated: true };
  return { value: null, failure: unexpectedFailure(error), usage, openedAtMs: 0, atMs: 0 };
}

/** Who kept a message does not matter: no built-in prompt of a phase that starts early shows it. */
const BOOKKEEPING: ReadonlySet<unknown> = new Set([KEPT_BY_USER, KEPT_BY_DEFAULT]);

/** Returns a digest of everything that the prompt of an attempt is rendered from. */
function attemptDigest({ task, input, instructions, sharedWith }: AttemptInput): string {
  return wideDigest(
    JSON.stringify([task, input, instructions, sharedWith], (name, value) =>
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
export function settleEarly(state: ChainState): Partial<ChainState> {
  const { early, usage, costs, lastMessageAtMs } = state;
  if (early === null) return {};
  const used = addCall(NO_USAGE, usageOfEarly(early), early.call.price);
  return {
    early: null,
    usage: addUsage(usage, used),
    costs: addCost(costs, early.task, used),
    lastMessageAtMs: Math.max(lastMessageAtMs, early.result?.atMs ?? 0),
  };
}

/** Returns the usage of an early call: an estimate if it is still in progress. */
export const usageOfEarly = ({ call, result }: EarlyCall) => result?.usage ?? callUsage(call);
