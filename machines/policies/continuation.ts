import type { ActionState } from '../contracts/action-state.ts';
import type { AttemptExecution, AttemptInput } from '../contracts/attempt.ts';
import type { CapabilityFailure, CapabilityResult, Continuation, ContinuationInput } from '../contracts/capability.ts';
import { clipped } from '../text/clip.ts';
import { addUsage } from './usage.ts';

/** What the model is shown of one step, of the last one, and of all steps together, in characters. */
const STEP_CHARS = 2_000;
const LAST_STEP_CHARS = 8_000;
const HISTORY_CHARS = 48_000;

/** The newest steps that it is shown one by one; those before are counted. */
const SHOWN_STEPS = 64;

const KEPT_ATTEMPTS = 16;

/** The one question of the request: what can be said now, and what is to be run [R1]. */
export function actionAttempt({ id, input, policy, maxTokens }: ActionState): AttemptInput {
  return { id, task: 'action', input, policy: { ...policy, maxTokens: Math.max(1, maxTokens) } };
}

/** The question after a run, of a model that decides: what comes next? */
export function continuationAttempt(state: ActionState): AttemptInput {
  const { id, runs, policy, execution, maxTokens } = state;
  const { modelCalls, inputTokens, outputTokens } = execution.usage;
  const maxCalls = Math.max(1, policy.maxCalls - modelCalls);
  return {
    id: `${id}.c${runs}`,
    task: 'continuation',
    input: continuationInput(state),
    policy: { ...policy, maxCalls, maxTokens: Math.max(1, maxTokens - inputTokens - outputTokens) },
  };
}

function continuationInput({ input, reply, results, runs, maxContinuations }: ActionState): ContinuationInput {
  return {
    request: input.request,
    response: reply?.response ?? '',
    steps: shownSteps(results.slice(-SHOWN_STEPS)),
    earlier: counted(results.slice(0, -SHOWN_STEPS)),
    runsLeft: Math.max(0, maxContinuations - runs),
    capabilities: input.capabilities,
  };
}

/** These steps, the oldest first; what they gave is shown from the newest back, as far as there is room for it. */
function shownSteps(results: readonly CapabilityResult[]): ContinuationInput['steps'] {
  let room = HISTORY_CHARS;
  return results
    .toReversed()
    .map(({ capability, arguments: given, success, output, error }, back) => {
      const chars = Math.min(room, back === 0 ? LAST_STEP_CHARS : STEP_CHARS);
      const shown = chars < 100 ? '' : clipped(success ? output : (error ?? ''), chars);
      room -= shown.length;
      return { capability, arguments: clipped(JSON.stringify(given), 500), success, output: shown };
    })
    .toReversed();
}

function counted(results: readonly CapabilityResult[]): ContinuationInput['earlier'] {
  const byName = new Map<string, { runs: number; failed: number }>();
  for (const { capability, success } of results) {
    const { runs, failed } = byName.get(capability) ?? { runs: 0, failed: 0 };
    byName.set(capability, { runs: runs + 1, failed: failed + (success ? 0 : 1) });
  }
  return [...byName].map(([capability, counts]) => ({ capability, ...counts }));
}

/** The model calls of the loop as one execution: usage and budgets add up [A11], the newest attempts stand for all. */
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

type Read = Pick<ActionState, 'continuation' | 'call' | 'problem'>;

/**
 * What a decider said, read: deciders are the user's code or a model. What is no continuation is told and not followed; a next step
 * without a name, or whose arguments are neither an object nor JSON text, is told apart from it [R5].
 */
export function readContinuation(said: unknown): Read {
  try {
    const { done, finalOutput, next } = Object(said) as Record<string, unknown>;
    if (done === false) return goingOn(next);
    if (done === true && (typeof finalOutput === 'string' || finalOutput === null || finalOutput === undefined))
      return { continuation: { done, finalOutput: finalOutput ?? null }, call: null, problem: null };
    return unreadable(done === true ? 'its finalOutput is no text' : 'it does not say whether it is done');
  } catch {
    return unreadable('it cannot be read');
  }
}

function goingOn(said: unknown): Read {
  const { capability, arguments: given } = Object(said) as Record<string, unknown>;
  if (typeof capability !== 'string') return noStep('missing_name', 'the next step has no name');
  const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : null;
  if (text === null) return noStep('arguments_not_object', 'the arguments of the next step are no object');
  const next = { capability, arguments: text };
  return { continuation: { done: false, next }, call: next, problem: null };
}

function isObject(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const noStep = (code: CapabilityFailure, message: string): Read => ({
  continuation: { done: false, next: null },
  call: null,
  problem: { code, message },
});

const unreadable = (why: string): Read => ({
  continuation: null,
  call: null,
  problem: { code: null, message: `what the decider said is no continuation: ${why}` },
});

/** The last result with the decider's own output in its place, where it gave one that is not blank [R5]. */
export function synthesizeLast(
  results: readonly CapabilityResult[],
  continuation: Continuation | null,
): readonly CapabilityResult[] {
  const finalOutput = continuation?.done ? continuation.finalOutput : null;
  const last = results.at(-1);
  if (last === undefined || finalOutput === null || finalOutput.trim() === '') return results;
  return [...results.slice(0, -1), { ...last, output: finalOutput, synthesized: true }];
}
