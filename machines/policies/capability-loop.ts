import type { ActionState, LoopProblem } from '../contracts/action-state.ts';
import type { CapabilityFailure, CapabilityResult, MemoryEntry } from '../contracts/capability.ts';
import type { GuardResult } from '../contracts/decision.ts';
import type { ActionResult } from '../contracts/phase-io.ts';
import { clipped } from '../text/clip.ts';

/** Whether a later Action has no loop to continue: no capability was needed so far, and only a model could now name one. */
export function nothingToContinue({ results, decider }: ActionState): GuardResult {
  return { holds: results.length === 0 && decider !== 'model', inputs: { results: results.length, decider } };
}

export function nothingToRun({ call, continuation }: ActionState): GuardResult {
  const capability = call?.capability ?? null;
  return { holds: call === null && continuation === null, inputs: { capability } };
}

/** Whether the requested step cannot run, as far as can be checked without its schema; `cause` is the code. */
export function nextStepInvalid(state: ActionState): GuardResult {
  const { call, input } = state;
  const problem = stepProblem(state);
  const inputs = {
    capability: call?.capability ?? null,
    cause: problem?.code ?? null,
    known: input.capabilities.length,
  };
  return { holds: problem !== null, inputs };
}

/**
 * What is wrong with the requested step, or null. Without a step: the problem found when the decider's reply was read.
 */
export function stepProblem({ call, problem, input }: ActionState): LoopProblem | null {
  if (call === null) return problem;
  const { capability } = call;
  if (capability.trim() === '') return { code: 'empty_name', message: 'the next step has an empty name' };
  if (input.capabilities.some(({ name }) => name === capability)) return null;
  const message = `unknown capability ${JSON.stringify(capability.slice(0, 100))}`;
  return { code: 'unknown_capability', message };
}

/** Whether nothing has run yet, and no earlier step was refused. */
export function isFirstStep({ runs, results }: Pick<ActionState, 'runs' | 'results'>): GuardResult {
  return { holds: runs === 0 && results.length === 0, inputs: { runs, results: results.length } };
}

export function continuationLimitReached({ runs, maxContinuations }: ActionState): GuardResult {
  return { holds: runs >= maxContinuations, inputs: { runs, maxContinuations } };
}

/** Whether the model may be asked again: it is the decider, and there are calls and tokens left. */
export function modelMayDecide({ decider, execution, policy, maxTokens }: ActionState): GuardResult {
  const { modelCalls, inputTokens, outputTokens } = execution.usage;
  const tokens = inputTokens + outputTokens;
  const { maxCalls } = policy;
  return {
    holds: decider === 'model' && modelCalls < maxCalls && tokens < maxTokens,
    inputs: { decider, modelCalls, maxCalls, tokens, maxTokens },
  };
}

/** Returns the time limit for a run of the requested capability: its own timeout or the loop's, in milliseconds. */
export function runMs({ call, input, capabilityMs }: ActionState): number {
  return input.capabilities.find(({ name }) => name === call?.capability)?.timeoutMs ?? capabilityMs;
}

/** Results to keep complete; older ones keep the beginning of their output, so a long loop stays small. */
const KEPT_WHOLE = 16;
const KEPT_CHARS = 500;

/** Returns the loop with one more result. */
export function appendResult(
  { results, runs }: ActionState,
  result: CapabilityResult,
): Pick<ActionState, 'results' | 'runs'> {
  const past = results.length - KEPT_WHOLE;
  const shortened = past < 0 ? results : results.with(past, shortenResult(results[past] as CapabilityResult));
  return { results: [...shortened, result], runs: runs + 1 };
}

function shortenResult(result: CapabilityResult): CapabilityResult {
  const isSmall = JSON.stringify(result.arguments).length <= KEPT_CHARS;
  return {
    ...result,
    arguments: isSmall ? result.arguments : {},
    output: clipped(result.output, KEPT_CHARS),
    error: result.error === null ? null : clipped(result.error, KEPT_CHARS),
  };
}

/** Returns the session's memory with the last run added; the first run adds the user's message as well. */
export function appendMemory({ memory, input, results }: ActionState): readonly MemoryEntry[] {
  const last = results.at(-1);
  if (last === undefined) return memory;
  const begun: readonly MemoryEntry[] = memory.length > 0 ? memory : [{ role: 'user', content: input.request }];
  const { capability, success, output, error } = last;
  const summary = clipped(success ? output : (error ?? ''), KEPT_CHARS);
  return [...begun, { role: 'assistant', capability, success, summary }];
}

/** Returns the result of a run that timed out, threw, or could not start. */
export function failedResult(
  { call, checked, sessionId }: ActionState,
  code: CapabilityFailure,
  error: string,
  durationMs: number,
): CapabilityResult {
  const capability = call?.capability ?? '';
  const base = { capability, arguments: checked, success: false, output: '', synthesized: false, startedAtMs: null };
  return { ...base, code, error, sessionId, durationMs };
}

/** Returns the state of an aborted loop: a running capability becomes a failed result with the cause. */
export function abortLoop(loop: ActionState, cause: string): ActionState {
  if (loop.begun === loop.runs) return { ...loop, stopReason: 'aborted' };
  const failed = failedResult(loop, 'aborted', `it was aborted: ${cause}`, 0);
  const ended: ActionState = { ...loop, ...appendResult(loop, failed), stopReason: 'aborted' };
  return { ...ended, memory: appendMemory(ended) };
}

/** Returns the result of Action without its `phase` and `step`. */
export function loopResult(loop: ActionState): Omit<ActionResult, 'phase' | 'step'> {
  const { reply, prose, results, runs, stopReason, problem, memory } = loop;
  return {
    reply: reply ?? NO_REPLY,
    prose,
    results,
    runs,
    stopReason,
    problem: problem?.message ?? null,
    memory,
  };
}

/** If the first step was given, no model wrote a reply. */
const NO_REPLY: ActionResult['reply'] = { response: '', confidence: 0, call: null };
