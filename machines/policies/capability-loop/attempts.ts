import type { ActionState } from '../../contracts/action-state.ts';
import type { AttemptExecution, AttemptInput } from '../../contracts/attempt.ts';
import type { CapabilityResult } from '../../contracts/capability.ts';
import type { ContinuationInput } from '../../contracts/continuation.ts';
import { clipped } from '../../text/clipped.ts';
import { addUsage } from '../usage.ts';

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
