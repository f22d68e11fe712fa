import type { ActionState, LoopProblem } from '../../contracts/action-state.ts';
import type { GuardResult } from '../../contracts/guard-result.ts';

/** The rules for the next step of the capability loop [R3, R5]. Each verdict is a guard of the chart by the same name. */

export function nothingToRun({ call, continuation }: ActionState): GuardResult {
  const capability = call?.capability ?? null;
  return { holds: call === null && continuation === null, inputs: { capability } };
}

/** Whether the wished step cannot be taken, as far as that shows without its schema; `cause` says why [R5]. */
export function nextStepInvalid(state: ActionState): GuardResult {
  const { call, input } = state;
  const found = stepProblem(state);
  const inputs = {
    capability: call?.capability ?? null,
    cause: found?.code ?? null,
    known: input.capabilities.length,
  };
  return { holds: found !== null, inputs };
}

/** What is wrong with the wished step, or null. Without a step, it is what was found when it was read. */
export function stepProblem({ call, problem, input }: ActionState): LoopProblem | null {
  if (call === null) return problem;
  const { capability } = call;
  if (capability.trim() === '') return { code: 'empty_name', message: 'the next step has an empty name' };
  if (input.capabilities.some(({ name }) => name === capability)) return null;
  const message = `there is no capability ${JSON.stringify(capability.slice(0, 100))}`;
  return { code: 'unknown_capability', message };
}

export function isFirstStep({ runs }: Pick<ActionState, 'runs'>): GuardResult {
  return { holds: runs === 0, inputs: { runs } };
}

export function continuationLimitReached({ runs, maxContinuations }: ActionState): GuardResult {
  return { holds: runs >= maxContinuations, inputs: { runs, maxContinuations } };
}

/** Whether the model can be asked once more: it is the decider, and there are calls and tokens left [promise 2]. */
export function modelMayDecide({ decider, execution, policy, maxTokens }: ActionState): GuardResult {
  const { modelCalls, inputTokens, outputTokens } = execution.usage;
  const tokens = inputTokens + outputTokens;
  const { maxCalls } = policy;
  return {
    holds: decider === 'model' && modelCalls < maxCalls && tokens < maxTokens,
    inputs: { decider, modelCalls, maxCalls, tokens, maxTokens },
  };
}

/** Milliseconds for the run of the wished capability: its own, or the loop's. */
export function runMs({ call, input, capabilityMs }: ActionState): number {
  return input.capabilities.find(({ name }) => name === call?.capability)?.timeoutMs ?? capabilityMs;
}
