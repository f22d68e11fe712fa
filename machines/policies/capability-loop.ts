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
import type { ActionResult } from '../contracts/phase-io.ts';
import { clipped } from '../text/clip.ts';

/** Whether a later Action has no loop to continue: no capability was needed so far, and only a model could now name one. */
export function nothingToContinue({ results, decider }: ActionState): GuardResult {
  return { holds: results.length === 0 && decider !== 'model', inputs: { results: results.length, decider } };
}

export function nothingToRun({ calls, continuation }: ActionState): GuardResult {
  return { holds: calls.length === 0 && continuation === null, inputs: { capability: namesOf(calls) } };
}

/** Returns the names of the called capabilities, separated by commas; null if there are no calls. */
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
 * Returns what is wrong with the requested step; null if at least one of its calls may run. If there are no calls, returns the
 * problem found when the decider's reply was read.
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
  const message = `unknown capability ${JSON.stringify(capability.slice(0, 100))}`;
  return { code: 'unknown_capability', message };
}

/**
 * Whether a deciding model only repeats calls that have already run `maxSameCalls` times with the same arguments. `runs` is the
 * number of runs of the call that ran least often.
 */
export function sameCallRepeated({ calls, decider, results, maxSameCalls }: ActionState): GuardResult {
  const capability = namesOf(calls);
  if (decider !== 'model' || calls.length === 0) return { holds: false, inputs: { decider, capability } };
  const done = results
    .slice(-KEPT_WHOLE)
    .filter(({ id }) => id !== null)
    .map(callKey);
  const runs = Math.min(...calls.map((call) => count(done, requestedKey(call))));
  return { holds: runs >= maxSameCalls, inputs: { decider, capability, runs, maxSameCalls } };
}

/** Returns the problem of a step that only repeats earlier calls. */
export function repeatProblem({ calls, maxSameCalls }: ActionState): LoopProblem {
  const name = JSON.stringify(calls[0]?.capability.slice(0, 100) ?? '');
  const message = `the model asked again for ${name}, which already ran ${maxSameCalls} times with the same arguments (maxSameCalls)`;
  return { code: null, message };
}

const count = (keys: readonly (string | null)[], key: string | null): number =>
  key === null ? 0 : keys.filter((one) => one === key).length;

const callKey = ({ capability, arguments: given }: Pick<CapabilityResult, 'capability' | 'arguments'>): string =>
  `${capability} ${sortedJson(given)}`;

/** Returns null if the arguments are not JSON. */
function requestedKey({ capability, arguments: text }: CapabilityCall): string | null {
  try {
    return callKey({ capability, arguments: text.trim() === '' ? {} : JSON.parse(text) });
  } catch {
    return null;
  }
}

/** Returns JSON text in which the members of every object are sorted by name. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : member,
  );
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

/** Returns the calls of the next step: the requested calls, as far as runs are left. */
export function callsOfStep({ calls, runs, maxContinuations }: ActionState): readonly CapabilityCall[] {
  return calls.slice(0, Math.max(0, maxContinuations - runs));
}

/** Returns the next step and the remaining calls, given the checks of its calls. An invalid call gets its failed result here. */
export function beginStep(state: ActionState, checks: readonly ArgumentsCheck[]): Pick<ActionState, 'step' | 'calls'> {
  const step = callsOfStep(state).map(({ capability }, at): StepCall => {
    const check = checks[at] ?? { ok: false, code: 'arguments_misfit', problem: 'the arguments were not validated' };
    const call: StepCall = { capability, arguments: {}, id: null, slot: null, result: null };
    if (check.ok) return { ...call, arguments: check.arguments };
    return { ...call, result: failedResult(state, call, check.code, check.problem, 0) };
  });
  return { step, calls: state.calls.slice(step.length) };
}

/** Returns a step whose calls are all invalid, each with its failed result. If there are no calls, it has one without a name. */
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

const isWaiting = ({ slot, result }: StepCall): boolean => slot === null && result === null;

/** Returns the call that a slot runs, or ran last. */
export function callIn({ step }: ActionState, slot: number): StepCall | undefined {
  return step.findLast((call) => call.slot === slot);
}

/** Returns the input for running the call in a slot. */
export function callInput(state: ActionState, slot: number) {
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

/** Assigns the first waiting call to a slot. */
export function startCall({ id, step, begun }: ActionState, slot: number): Pick<ActionState, 'step' | 'begun'> {
  const at = step.findIndex(isWaiting);
  const call = step[at];
  if (call === undefined) return { step, begun };
  return { step: step.with(at, { ...call, slot, id: `${id}.${begun + 1}` }), begun: begun + 1 };
}

/** Ends the call that a slot runs. */
export function endCall({ step }: ActionState, slot: number, result: CapabilityRunResult): Pick<ActionState, 'step'> {
  return {
    step: step.map((call) =>
      call.slot === slot && isRunning(call) ? { ...call, result: { ...result, id: call.id } } : call,
    ),
  };
}

/** Ends the call that a slot runs without a result of its own. */
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
export function recordStep(state: ActionState): Pick<ActionState, 'step' | 'results' | 'runs' | 'memory' | 'problem'> {
  const ended = state.step.flatMap(({ result }) => result ?? []);
  const results = ended.reduce(appendResult, state.results);
  const runs = state.runs + ended.filter(({ id }) => id !== null).length;
  const left = state.calls.length;
  const message = `${left} of ${left + state.step.length} calls did not run: a request has at most ${state.maxContinuations} capability runs (maxContinuations)`;
  const problem = left === 0 ? state.problem : { code: null, message };
  return { step: [], results, runs, memory: appendMemory(state, ended), problem };
}

/** Whether the step had more calls than there were runs left. */
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

/** Returns the result of a call that timed out, threw, or could not start. */
export function failedResult(
  { sessionId }: Pick<ActionState, 'sessionId'>,
  { id, capability, arguments: given }: Pick<StepCall, 'id' | 'capability' | 'arguments'>,
  code: CapabilityFailure,
  error: string,
  durationMs: number,
): CapabilityResult {
  const base = { id, capability, arguments: given, success: false, output: '', synthesized: false, startedAtMs: null };
  return { ...base, code, error, sessionId, durationMs };
}

/** Returns the state of an aborted loop: a call that was running becomes a failed result with the cause. */
export function abortLoop(loop: ActionState, cause: string): ActionState {
  return { ...loop, ...recordStep({ ...loop, step: abortStep(loop, cause), calls: [] }), stopReason: 'aborted' };
}

/** Returns the step of an aborted loop: the calls that were running have failed. */
export function abortStep(loop: ActionState, cause: string): readonly StepCall[] {
  return loop.step.map((call) =>
    isRunning(call) ? { ...call, result: failedResult(loop, call, 'aborted', `it was aborted: ${cause}`, 0) } : call,
  );
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
