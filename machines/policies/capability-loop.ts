import type { ActionState, LoopProblem, StepCall } from '../contracts/action-state.ts';
import type {
  ArgumentsCheck,
  CapabilityCall,
  CapabilityFailure,
  CapabilityResult,
  CapabilityRunResult,
  MemoryEntry,
} from '../contracts/capability.ts';
import type { GuardResult } from '../contracts/decision.ts';
import { MAX_TIMER_MS } from '../contracts/limits.ts';
import type { ActionResult } from '../contracts/phase-io.ts';
import { clipped, firstChars } from '../text/clip.ts';
import { asWritten, digestOfText, failedResult, isApproved, newQuestion } from './approvals.ts';
import { wasDenied } from './failures.ts';

/** Whether a later Action has no loop to continue: no capability was needed so far, and only a model could now name one. */
export function nothingToContinue({ results, decider }: ActionState): GuardResult {
  return { holds: results.length === 0 && decider !== 'model', inputs: { results: results.length, decider } };
}

export function nothingToRun({ calls, continuation }: ActionState): GuardResult {
  return { holds: calls.length === 0 && continuation === null, inputs: { capability: namesOf(calls) } };
}

export function namesOf(calls: readonly CapabilityCall[]): string | null {
  return calls.length === 0 ? null : calls.map(({ capability }) => capability).join(', ');
}

/** Whether no requested call can run, as far as can be checked without its schema; `cause` is the code of the first one. */
export function nextStepInvalid(state: ActionState): GuardResult {
  const { calls, input } = state;
  const problem = stepProblem(state);
  const inputs = {
    capability: namesOf(calls),
    cause: problem?.code ?? null,
    known: input.capabilities.length,
  };
  return { holds: problem !== null, inputs };
}

/**
 * Returns what is wrong with the requested step, or null if at least one of its calls may run. For a step without calls, it is the
 * problem that was found in the decider's reply.
 */
export function stepProblem({ calls, problem, input }: ActionState): LoopProblem | null {
  if (calls.length === 0) return problem;
  const problems = calls.map((call) => callProblem(call, input.capabilities));
  return problems.every((one) => one !== null) ? (problems[0] ?? null) : null;
}

function callProblem(
  { capability }: CapabilityCall,
  capabilities: ActionState['input']['capabilities'],
): LoopProblem | null {
  if (capability.trim() === '') return { code: 'empty_name', message: 'the next step has an empty name' };
  if (capabilities.some(({ name }) => name === capability)) return null;
  const message = `unknown capability ${JSON.stringify(firstChars(capability, 100))}`;
  return { code: 'unknown_capability', message };
}

/**
 * Whether a deciding model only repeats calls that it made in `maxSameCalls` steps, with the same arguments. `steps` is the number of
 * steps with the call that it made least often.
 */
export function sameCallRepeated({ calls, decider, requested, maxSameCalls }: ActionState): GuardResult {
  const capability = namesOf(calls);
  if (decider !== 'model' || calls.length === 0) return { holds: false, inputs: { decider, capability } };
  const steps = Math.min(...calls.slice(0, MAX_STEP_CALLS).map((call) => requested[keyOf(call)] ?? 0));
  return { holds: steps >= maxSameCalls, inputs: { decider, capability, steps, maxSameCalls } };
}

const keyOf = (call: CapabilityCall): string => digestOfText(call.capability, call.arguments);

/** Returns how many steps each call was part of, one more for the calls of a step. */
function countRequested(
  requested: ActionState['requested'],
  calls: readonly CapabilityCall[],
): ActionState['requested'] {
  const keys = new Set(calls.map(keyOf));
  return { ...requested, ...Object.fromEntries([...keys].map((key) => [key, (requested[key] ?? 0) + 1])) };
}

/** Returns the counts after the loop's earlier Actions. Results that were shortened do not count. */
export function requestedBefore(results: readonly CapabilityResult[]): ActionState['requested'] {
  return results
    .slice(-KEPT_WHOLE)
    .map(({ capability, arguments: given }) => [{ capability, arguments: JSON.stringify(given) }])
    .reduce(countRequested, {});
}

export function repeatProblem({ calls, maxSameCalls }: ActionState): LoopProblem {
  const name = JSON.stringify(firstChars(calls[0]?.capability ?? '', 100));
  const message = `the model called ${name} again, after ${maxSameCalls} steps with the same call (maxSameCalls)`;
  return { code: null, message };
}

/** Whether nothing has run yet, and no earlier step was rejected. */
export function isFirstStep({ runs, results }: Pick<ActionState, 'runs' | 'results'>): GuardResult {
  return { holds: runs === 0 && results.length === 0, inputs: { runs, results: results.length } };
}

/** Whether the request has reached its limit of runs, or of calls that were not approved: a decider could request those forever. */
export function continuationLimitReached({ runs, results, maxContinuations }: ActionState): GuardResult {
  const denied = results.filter(({ code }) => wasDenied(code)).length;
  const holds = runs >= maxContinuations || denied >= maxContinuations;
  return { holds, inputs: { runs, ...(denied > 0 && { denied }), maxContinuations } };
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

/**
 * Returns the time limit of the validation of a whole step, in milliseconds. The schema of each call has the limit `capabilityMs`, so an
 * eighth is added: a schema that hangs fails only its own call.
 */
export function schemaMs({ capabilityMs }: ActionState): number {
  return Math.min(MAX_TIMER_MS, capabilityMs * 1.125);
}

/** The most calls that one step considers. The others do not run. */
const MAX_STEP_CALLS = 256;

export function callsOfStep({ calls }: ActionState): readonly CapabilityCall[] {
  return calls.slice(0, MAX_STEP_CALLS);
}

/**
 * Returns the next step, given the checks of its calls: an invalid call already has its result, and the others have as many runs as
 * are left. `calls` are those for which none is left.
 */
export function beginStep(
  state: ActionState,
  checks: readonly ArgumentsCheck[],
): Pick<ActionState, 'step' | 'calls' | 'requested' | 'asked'> {
  const { calls, runs, maxContinuations, requested } = state;
  const considered = callsOfStep(state);
  const left: CapabilityCall[] = [];
  const step: StepCall[] = [];
  let { asked } = state;
  let runsLeft = maxContinuations - runs;
  for (const [at, call] of considered.entries()) {
    const { capability } = call;
    const check = checks[at] ?? UNCHECKED;
    const waiting: StepCall = {
      capability,
      arguments: {},
      id: null,
      slot: null,
      result: null,
      ...nativeCall(state, call),
    };
    if (!check.ok) step.push(invalidCall(state, waiting, call, check));
    else if (runsLeft > 0) {
      const valid = { ...waiting, arguments: check.arguments };
      if (check.needsApproval) asked += 1;
      step.push(check.needsApproval ? { ...valid, approval: newQuestion(state, asked, valid) } : valid);
    } else left.push(call);
    if (check.ok) runsLeft -= 1;
  }
  const rest = [...left, ...calls.slice(MAX_STEP_CALLS)];
  return { step, calls: rest, requested: countRequested(requested, considered), asked };
}

function nativeCall({ results }: ActionState, { toolCallId: id }: CapabilityCall): Pick<StepCall, 'toolCall'> {
  return id === undefined ? {} : { toolCall: { id, step: results.length } };
}

const MAX_INVALID_CHARS = 2_000;

/** Returns a call that ends at once. It keeps the arguments that the model wrote, because the next prompt repeats the call. */
function invalidCall(
  state: ActionState,
  waiting: StepCall,
  { arguments: text }: CapabilityCall,
  { code, problem }: Extract<ArgumentsCheck, { ok: false }>,
): StepCall {
  const { toolCall } = waiting;
  const isWhole = toolCall !== undefined && text.length <= MAX_INVALID_CHARS && isObjectText(text);
  const written = isWhole ? { toolCall: { ...toolCall, arguments: text } } : { written: clipped(text, KEPT_CHARS) };
  const call = text === '' ? waiting : { ...waiting, ...written };
  return { ...call, result: failedResult(state, call, code, problem, 0) };
}

function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

const UNCHECKED: ArgumentsCheck = { ok: false, code: 'arguments_misfit', problem: 'the arguments were not validated' };

/** Returns the step of requested calls that are all invalid, each with its result; without a call, the one that has no name. */
export function invalidStep(state: ActionState): readonly StepCall[] {
  const { problem } = state;
  const given = callsOfStep(state);
  const { code, message } = problem ?? {};
  const calls = given.length > 0 ? given : [{ capability: '', arguments: '' }];
  return beginStep(
    { ...state, calls },
    calls.map((call) => {
      const own = callProblem(call, state.input.capabilities);
      return {
        ok: false,
        code: own?.code ?? code ?? 'unknown_capability',
        problem: own?.message ?? message ?? '',
      };
    }),
  ).step;
}

/**
 * Whether a call waits for this slot. When the step begins, all slots choose at the same time and take the calls in order: slot 1
 * takes the first call.
 */
export function callWaits({ step, maxParallelCalls }: ActionState, slot: number): GuardResult {
  const waiting = step.filter(isWaiting).length;
  const isBeginning = step.every((call) => call.slot === null);
  const before = isBeginning ? slot - 1 : 0;
  return { holds: slot <= maxParallelCalls && waiting > before, inputs: { slot, waiting, maxParallelCalls } };
}

export const isRunning = ({ slot, result }: StepCall): boolean => slot !== null && result === null;

/** A call that is not approved never starts, whatever the chart does. */
const isWaiting = (call: StepCall): boolean => call.slot === null && call.result === null && isApproved(call);

export function callIn({ step }: ActionState, slot: number): StepCall | undefined {
  return step.findLast((call) => call.slot === slot);
}

export function capabilityInput(state: ActionState, slot: number) {
  const { input, sessionId, maxResultChars } = state;
  const { id, capability = '', arguments: given = {} } = callIn(state, slot) ?? {};
  return { runId: input.runId, id: id ?? '', capability, arguments: given, sessionId, maxResultChars };
}

/** Returns the call that started last. Calls start in order. */
export function lastStarted({ step }: ActionState): StepCall | undefined {
  return step.findLast(({ slot }) => slot !== null);
}

/** Returns the number of a call's result: its position among all results, from 1. */
export function resultIndex(
  { results, step }: Pick<ActionState, 'results' | 'step'>,
  call: StepCall | undefined,
): number {
  return results.length + (call === undefined ? 0 : step.indexOf(call)) + 1;
}

export function startCall({ id, step, begun }: ActionState, slot: number): Pick<ActionState, 'step' | 'begun'> {
  const at = step.findIndex(isWaiting);
  const call = step[at];
  if (call === undefined) return { step, begun };
  return { step: step.with(at, { ...call, slot, id: `${id}.${begun + 1}` }), begun: begun + 1 };
}

export function endCall({ step }: ActionState, slot: number, result: CapabilityRunResult): Pick<ActionState, 'step'> {
  return {
    step: step.map((call) =>
      call.slot === slot && isRunning(call)
        ? { ...call, result: { ...result, id: call.id, ...asWritten(call) } }
        : call,
    ),
  };
}

export function failCall(
  state: ActionState,
  slot: number,
  { code, error, durationMs = 0 }: { code: CapabilityFailure; error: string; durationMs?: number },
): Pick<ActionState, 'step'> {
  const call = callIn(state, slot);
  if (call === undefined) return { step: state.step };
  return endCall(state, slot, failedResult(state, call, code, error, durationMs));
}

/** Returns the loop with the results of the step, in the order of its calls. */
export function recordStep(
  state: ActionState,
): Pick<ActionState, 'step' | 'results' | 'runs' | 'begun' | 'memory' | 'problem'> {
  const ended = state.step.flatMap(({ result }) => result ?? []);
  const results = ended.reduce(appendResult, state.results);
  const responded = state.step.filter(({ approval }) => approval?.state === 'responded').length;
  const runs = state.runs + responded + ended.filter(({ id }) => id !== null).length;
  const left = state.calls.length;
  const message = `${left} of ${left + state.step.length} calls did not run: a request has at most ${state.maxContinuations} capability runs (maxContinuations)`;
  const problem = left === 0 ? state.problem : { code: null, message };
  return { step: [], results, runs, begun: runs, memory: appendMemory(state, ended), problem };
}

export function callsLeftOver({ calls, runs, maxContinuations }: ActionState): GuardResult {
  return { holds: calls.length > 0, inputs: { calls: calls.length, runs, maxContinuations } };
}

/** Returns the time limit for a call: its capability's own timeout or the loop's, in milliseconds. */
export function runMs({ input, capabilityMs }: ActionState, call: StepCall | undefined): number {
  return input.capabilities.find(({ name }) => name === call?.capability)?.timeoutMs ?? capabilityMs;
}

/** Results to keep complete; older ones keep the beginning of their output, so a long loop stays small. */
const KEPT_WHOLE = 16;
const KEPT_CHARS = 500;

function appendResult(results: ActionState['results'], result: CapabilityResult): ActionState['results'] {
  const past = results.length - KEPT_WHOLE;
  const shortened = past < 0 ? results : results.with(past, shortenResult(results[past] as CapabilityResult));
  return [...shortened, result];
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

/** Returns the session's memory with these results added; the first step adds the user's message as well. */
function appendMemory({ memory, input }: ActionState, ended: readonly CapabilityResult[]): readonly MemoryEntry[] {
  if (ended.length === 0) return memory;
  const begun: readonly MemoryEntry[] = memory.length > 0 ? memory : [{ role: 'user', content: input.request }];
  return [
    ...begun,
    ...ended.map(({ capability, success, output, error }): MemoryEntry => {
      const summary = clipped(success ? output : (error ?? ''), KEPT_CHARS);
      return { role: 'assistant', capability, success, summary };
    }),
  ];
}

/** Returns the state of an aborted loop: a call that has not ended becomes a failed result with the cause. */
export function abortLoop(loop: ActionState, cause: string): ActionState {
  return { ...loop, ...recordStep({ ...loop, step: abortStep(loop, cause), calls: [] }), stopReason: 'aborted' };
}

/** Returns the step of an aborted loop: the calls that have not ended have failed. */
export function abortStep(loop: ActionState, cause: string): readonly StepCall[] {
  return loop.step.map((call) => {
    if (call.result !== null) return call;
    const error = `it was aborted${isRunning(call) ? '' : ' before it ran'}: ${cause}`;
    return { ...call, result: failedResult(loop, call, 'aborted', error, 0) };
  });
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
const NO_REPLY: ActionResult['reply'] = { response: '', confidence: 0, calls: [] };
