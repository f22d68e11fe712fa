import type { ActionState } from '../contracts/action-state.ts';
import type { AttemptExecution, AttemptInput } from '../contracts/attempt.ts';
import type {
  CapabilityCall,
  CapabilityFailure,
  CapabilityResult,
  Continuation,
  ContinuationInput,
} from '../contracts/capability.ts';
import { clipped } from '../text/clip.ts';
import { addUsage, afterSpending } from './usage.ts';

/** Characters shown to the model: per step, for the last step, and for all steps. */
const STEP_CHARS = 2_000;
const LAST_STEP_CHARS = 8_000;
const HISTORY_CHARS = 48_000;

/** The newest steps are shown individually; earlier ones are only counted. */
const SHOWN_STEPS = 64;

const KEPT_ATTEMPTS = 16;

export function actionAttempt({
  id,
  input,
  instructions = null,
  policy,
  models,
  maxTokens,
}: ActionState): AttemptInput {
  return {
    id,
    task: 'action',
    input,
    instructions,
    policy: { ...policy, maxTokens: Math.max(1, maxTokens) },
    models,
    hasParent: true,
  };
}

export function continuationAttempt(state: ActionState): AttemptInput {
  const { id, runs, instructions = null, continuationPolicy: policy, models, execution, maxTokens } = state;
  const { modelCalls, inputTokens, outputTokens } = execution.usage;
  const maxCalls = Math.max(1, policy.maxCalls - modelCalls);
  return {
    id: `${id}.c${runs}`,
    task: 'continuation',
    input: continuationInput(state),
    instructions,
    policy: {
      ...afterSpending(policy, execution.usage),
      maxCalls,
      maxTokens: Math.max(1, maxTokens - inputTokens - outputTokens),
    },
    models,
    hasParent: true,
  };
}

function continuationInput({ input, reply, results, runs, maxContinuations }: ActionState): ContinuationInput {
  const { request, prompt } = input;
  return {
    request: prompt.startsWith(request) ? prompt : `${request}\n${prompt}`,
    response: reply?.response ?? '',
    steps: shownSteps(results, Math.max(0, results.length - SHOWN_STEPS)),
    earlier: counted(results.slice(0, -SHOWN_STEPS)),
    runsLeft: Math.max(0, maxContinuations - runs),
    capabilities: input.capabilities,
  };
}

/** Returns the steps from index `from` on, oldest first. Output is shown from the newest step back, as far as the budget allows. */
function shownSteps(results: readonly CapabilityResult[], from: number): ContinuationInput['steps'] {
  const ids = nativeIds(results, from);
  let charsLeft = HISTORY_CHARS;
  return results
    .slice(from)
    .toReversed()
    .map(({ capability, arguments: given, success, output, error, toolCall, written }, back) => {
      const chars = Math.min(charsLeft, back === 0 ? LAST_STEP_CHARS : STEP_CHARS);
      const result = success ? output : (error ?? '');
      // Servers parse the arguments of a native call, so arguments that are not JSON are stated in its result.
      const isStated = toolCall !== undefined && written !== undefined;
      const shown = chars < 100 ? '' : clipped(isStated ? `${result}; received: ${written}` : result, chars);
      charsLeft -= shown.length;
      const step = { capability, success, output: shown };
      if (toolCall === undefined) return { ...step, arguments: clipped(written ?? JSON.stringify(given), 500) };
      const whole = toolCall.arguments ?? JSON.stringify(given);
      const most = Math.min(charsLeft, back === 0 ? LAST_STEP_CHARS : STEP_CHARS);
      const text = whole.length <= most ? whole : shortenedJson(given, most);
      charsLeft -= text.length;
      const id = ids[results.length - 1 - back] ?? '';
      return { ...step, arguments: text, toolCall: { id, step: toolCall.step } };
    })
    .toReversed();
}

const MEMBER_CHARS = 200;

/** Servers parse the arguments of a native call, so only the texts in them are cut; if that does not suffice, nothing is shown. */
function shortenedJson(given: unknown, most: number): string {
  const text = JSON.stringify(given, (_, value) => (typeof value === 'string' ? clipped(value, MEMBER_CHARS) : value));
  return text.length <= most ? text : '{}';
}

/** Returns the ids of native calls, by the index of their result: the provider's, or a new one if it gave none or repeated one. */
function nativeIds(results: readonly CapabilityResult[], from: number): readonly string[] {
  const used = new Set<string>();
  return results.map(({ toolCall }, at) => {
    if (toolCall === undefined || at < from) return '';
    let id = toolCall.id || `call_${at + 1}`;
    while (used.has(id)) id += '_';
    used.add(id);
    return id;
  });
}

function counted(results: readonly CapabilityResult[]): ContinuationInput['earlier'] {
  const byName = new Map<string, { runs: number; failed: number }>();
  for (const { capability, success } of results) {
    const { runs, failed } = byName.get(capability) ?? { runs: 0, failed: 0 };
    byName.set(capability, { runs: runs + 1, failed: failed + (success ? 0 : 1) });
  }
  return [...byName].map(([capability, counts]) => ({ capability, ...counts }));
}

/** Joins the loop's model calls into one execution: usage and budgets add up; only the newest attempts are kept. */
export function joinExecutions(before: AttemptExecution, last: AttemptExecution): AttemptExecution {
  return {
    ...before,
    attempts: [...before.attempts, ...last.attempts].slice(-KEPT_ATTEMPTS),
    corrections: before.corrections + last.corrections,
    transportRetries: before.transportRetries + last.transportRetries,
    fallbacks: before.fallbacks + last.fallbacks,
    usage: addUsage(before.usage, last.usage),
  };
}

type ReadContinuation = Pick<ActionState, 'continuation' | 'calls' | 'problem'>;

/**
 * Reads the reply of a decider, which is the user's code or a model. `next` is one call or a list. An invalid reply is reported and
 * not followed; a next step without a name, or with arguments that are neither an object nor JSON text, is reported as such.
 */
export function readContinuation(reply: unknown): ReadContinuation {
  try {
    const { done, finalOutput, next } = Object(reply) as Record<string, unknown>;
    if (done === false) return readNextStep(next);
    if (done === true && (typeof finalOutput === 'string' || finalOutput === null || finalOutput === undefined))
      return { continuation: { done, finalOutput: finalOutput ?? null }, calls: [], problem: null };
    return unreadable(done === true ? '"finalOutput" must be a string or null' : '"done" must be a boolean');
  } catch {
    return unreadable('it threw while being read');
  }
}

function readNextStep(step: unknown): ReadContinuation {
  const steps: readonly unknown[] = Array.isArray(step) ? step.slice(0, MAX_CALLS) : [step];
  if (steps.length === 0) return noStep('missing_name', 'the next step has no call');
  const next: CapabilityCall[] = [];
  for (const call of steps) {
    const { capability, arguments: given, toolCallId } = Object(call) as Record<string, unknown>;
    const isNamed = typeof capability === 'string';
    const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : null;
    if (steps.length === 1 && !isNamed) return noStep('missing_name', 'the next step has no name');
    if (steps.length === 1 && text === null)
      return noStep('arguments_not_object', 'the arguments of the next step must be an object');
    // Beside other calls, an invalid one is a failed result of its own when it is validated.
    const named = { capability: isNamed ? capability : '', arguments: text ?? NO_OBJECT };
    next.push(typeof toolCallId === 'string' ? { ...named, toolCallId } : named);
  }
  return { continuation: { done: false, next }, calls: next, problem: null };
}

/** A decider is user code: a longer list is cut. */
const MAX_CALLS = 1_000;

/** Text that is not an object, in place of arguments that are none. */
const NO_OBJECT = 'false';

function isObject(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const noStep = (code: CapabilityFailure, message: string): ReadContinuation => ({
  continuation: { done: false, next: [] },
  calls: [],
  problem: { code, message },
});

const unreadable = (why: string): ReadContinuation => ({
  continuation: null,
  calls: [],
  problem: { code: null, message: `the decider returned an invalid continuation: ${why}` },
});

/** Replaces the last result's output with the decider's final output, unless that is blank. */
export function synthesizeLast(
  results: readonly CapabilityResult[],
  continuation: Continuation | null,
): readonly CapabilityResult[] {
  const finalOutput = continuation?.done ? continuation.finalOutput : null;
  const last = results.at(-1);
  if (last === undefined || finalOutput === null || finalOutput.trim() === '') return results;
  return [...results.slice(0, -1), { ...last, output: finalOutput, synthesized: true }];
}
