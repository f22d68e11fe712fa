import type { AttemptInput, AttemptOutcome } from '../../contracts/attempt.ts';
import type { ChainState } from '../../contracts/chain-state.ts';
import type { GuardResult, Interruption } from '../../contracts/decision.ts';
import type { FinalAnswer, ValueInput, ValueOutcome } from '../../contracts/synthesis.ts';
import type { Usage } from '../../contracts/usage.ts';
import { unexpectedFailure } from '../failures.ts';
import { callLimits, costBounds, executionId } from '../phase-calls.ts';
import { chargeExecution, NOTHING_IN_FLIGHT } from '../progress.ts';
import {
  addUsage,
  deadlines,
  instructionsFor,
  instructionTokens,
  NO_USAGE,
  tokensOfChars,
  usageSoFar,
} from '../usage.ts';
import { basisOf } from './basis.ts';
import { composeAnswer } from './compose.ts';
import { isTooExpensive, planWriting, replyChars, writingOf } from './writing.ts';

/** How to state the answer as a value: by a model, or why not, in words. */
type ValuePlan =
  | { readonly asks: true; readonly input: ValueInput; readonly maxReplyChars: number }
  | { readonly asks: false; readonly problem: string };

const STOPPED: { readonly [Kind in Interruption['kind']]?: string } = {
  cancelled: 'the run was canceled',
  interrupted: 'the run was interrupted',
  model_unavailable: 'the model was unavailable',
};

/** Returns null if the run is not to return a value. The prompt has the final text, and as much of the context as the reserve allows. */
function planOf(state: ChainState): ValuePlan | null {
  const { requestedValue, interruption, limits, contextWindowTokens } = state;
  if (requestedValue === undefined) return null;
  const no = (problem: string): ValuePlan => ({ asks: false, problem });
  const { schema, hasModel } = requestedValue;
  if (!hasModel) return no('the chain has no language model');
  const stopped = interruption && STOPPED[interruption.kind];
  if (stopped) return no(stopped);
  if (limits.synthesisReserveTokens === 0) return no('no tokens are reserved for the answer');
  const basis = basisOf(state);
  const { answerText, sources } = composeAnswer(basis, writingOf(state));
  const draft = {
    ...basis.material.draft,
    text: answerText,
    usedMessageIds: sources.map(({ messageId }) => messageId),
  };
  const schemaTokens = tokensOfChars(JSON.stringify(schema).length);
  const plan = planWriting(
    { ...basis, material: { ...basis.material, draft, steps: [] } },
    contextWindowTokens,
    instructionTokens(state) + schemaTokens,
  );
  if (!plan.asks) return no('the prompt does not fit into the tokens reserved for the answer');
  if (isTooExpensive(afterWriting(state), 'value', plan.promptTokens))
    return no('its call could exceed the cost limit');
  return { asks: true, input: { ...plan.input, schema }, maxReplyChars: replyChars(limits, plan) };
}

const afterWriting = (state: ChainState): ChainState => ({
  ...state,
  usage: addUsage(state.usage, state.written?.usage ?? NO_USAGE),
});

/** Whether a model states the answer as a value: the run is to return one, it was not stopped, and a call fits into the limits. */
export function valueMayBeStated(state: ChainState): GuardResult {
  const plan = planOf(state);
  return {
    holds: plan?.asks === true,
    inputs: { requested: plan !== null, problem: plan?.asks === false ? plan.problem : null },
  };
}

/** Returns the input of the attempt that states the value: as many corrections and retries as in a phase, within a reserve of its own. */
export function valueAttempt(state: ChainState): AttemptInput {
  const plan = planOf(state);
  if (plan?.asks !== true) throw new TypeError('valueAttempt was called although valueMayBeStated does not hold');
  return {
    id: executionId(state, 'value'),
    task: 'value',
    input: plan.input,
    instructions: instructionsFor(state, 'value'),
    policy: {
      ...callLimits(state, 'value'),
      parentMs: deadlines(state).synthesisMs,
      maxTokens: state.limits.synthesisReserveTokens,
      maxReplyChars: plan.maxReplyChars,
      ...costBounds(afterWriting(state)),
    },
    models: state.models,
    hasParent: true,
  };
}

const missing = (problem: string, usage: Usage): ValueOutcome => ({ ok: false, problem, usage });

/** Records the outcome. Its usage is part of the outcome, like that of the call that writes the text. */
export function finishValue(state: ChainState, outcome: AttemptOutcome): Partial<ChainState> {
  const { inFlight, corrections, lastMessageAtMs } = chargeExecution(state, outcome.execution);
  const { usage } = outcome.execution;
  const stated: ValueOutcome = outcome.ok
    ? { ok: true, value: outcome.value, usage }
    : missing(outcome.failure.message, usage);
  return { inFlight, corrections, lastMessageAtMs, stated };
}

function abortValue(state: ChainState, problem: string): Partial<ChainState> {
  return { inFlight: NOTHING_IN_FLIGHT, stated: missing(problem, usageSoFar(state.inFlight.usage)) };
}

export const failValue = (state: ChainState, error: unknown): Partial<ChainState> =>
  abortValue(state, unexpectedFailure(error).message);

export function timeOutValue(state: ChainState): Partial<ChainState> {
  const { synthesisMs } = deadlines(state);
  const problem = `the model did not state it within ${synthesisMs} ms`;
  return { ...abortValue(state, problem), lastMessageAtMs: state.lastMessageAtMs + synthesisMs };
}

/** The text that was written remains. */
export const interruptValue = (state: ChainState, interruption: Interruption): Partial<ChainState> => ({
  ...abortValue(state, STOPPED[interruption.kind] ?? 'the run was stopped'),
  interruption,
});

export function answerOf(state: ChainState): FinalAnswer {
  const plan = state.stated === null ? planOf(state) : null;
  const unstated = plan && missing(plan.asks ? 'the run ended first' : plan.problem, NO_USAGE);
  return composeAnswer(basisOf(state), writingOf(state), state.stated ?? unstated);
}
