import { createActor, toPromise } from 'xstate';
import * as z from 'zod/mini';
import { usageInFlight } from '../../machines/attempt/state.ts';
import type { AttemptInput } from '../../machines/contracts/attempt.ts';
import type { ChatModel, ReplyForm } from '../../machines/contracts/model.ts';
import {
  type FinalAnswer,
  type ReadSynthesisInput,
  type SynthesisInput,
  type SynthesisOutcome,
  synthesisInputSchema,
} from '../../machines/contracts/synthesis.ts';
import { type AnswerBasis, basisOfContract } from '../../machines/policies/synthesis/basis.ts';
import {
  composeAnswer,
  composedOutcome,
  failedSynthesis,
  outcomeOf,
} from '../../machines/policies/synthesis/compose.ts';
import { planWriting, writingPolicy } from '../../machines/policies/synthesis/writing.ts';
import { usageSoFar } from '../../machines/policies/usage.ts';
import { type Clock, systemClock } from '../durable/clock.ts';
import { onAbort } from '../internal/async.ts';
import { parseOption, signalSchema } from '../internal/options.ts';
import { noopCallObserver, provideAttempt } from '../llm/attempts/provide-attempt.ts';
import type { Prompt } from './prompts/prompt.ts';
import { promptSpec } from './prompts/prompt-spec.ts';
import { prompts } from './prompts/registry.ts';
import { type PostChainOptions, parseOptions } from './runtime/options.ts';

/** The options of `synthesizeAnswer`; each has a default. */
export interface SynthesizeOptions {
  /** Writes the answer. Without a model the engine composes it from the results. */
  readonly model?: ChatModel | undefined;
  /** Replaces the built-in prompt. */
  readonly prompts?: { readonly synthesis?: Prompt } | undefined;
  /** `text` (default): JSON in the reply's text. `tool-call`: the arguments of one tool call. */
  readonly replyForm?: ReplyForm | undefined;
  /** The limits of a chain. `synthesisMs` and `synthesisReserveTokens` limit the time and the tokens of the model. */
  readonly limits?: PostChainOptions['limits'] | undefined;
  readonly clock?: Clock | undefined;
  /** Aborts the model's call; the answer is then composed and states that it was canceled. */
  readonly signal?: AbortSignal | undefined;
}

const anything = z.optional(z.unknown());
const optionsSchema = z.strictObject({
  model: anything,
  prompts: z.optional(z.strictObject({ synthesis: anything })),
  replyForm: anything,
  limits: anything,
  clock: anything,
  signal: z.optional(z.nullable(signalSchema)),
});

/** Returns the options with their defaults. Throws `invalid_option`. */
function resolveSynthesizeOptions(options: SynthesizeOptions) {
  parseOption(optionsSchema, options, 'options');
  const { signal = null, ...others } = options;
  const { limits } = parseOptions(others as PostChainOptions);
  const { model = null, replyForm = 'text', clock = systemClock } = options;
  return { model, replyForm, clock, signal, limits, spec: promptSpec(options.prompts?.synthesis ?? prompts.synthesis) };
}

type SynthesisParts = ReturnType<typeof resolveSynthesizeOptions>;

/**
 * Returns the final answer of a finished run of any program. The model, if there is one, writes the text; the engine composes the rest.
 * The promise never rejects: the answer states what failed.
 *
 * @throws PostChainError `invalid_option`, before anything starts: the message names the invalid field or option.
 * @example
 * const { answerText, metadata } = await synthesizeAnswer(input, { model, signal });
 */
export function synthesizeAnswer(input: SynthesisInput, options: SynthesizeOptions = {}): Promise<FinalAnswer> {
  const run = parseOption(synthesisInputSchema, input, 'input');
  return synthesize(run, resolveSynthesizeOptions(options));
}

const CANCELLED = { kind: 'cancelled', reason: 'the signal was aborted' } as const;

async function synthesize(run: ReadSynthesisInput, parts: SynthesisParts): Promise<FinalAnswer> {
  const basis = basisOfContract(run, parts.limits.synthesisReserveTokens);
  try {
    const { outcome, aborted } = await writeOrCompose(basis, `${run.correlationId ?? 'answer'}.synthesis`, parts);
    const ms = parts.clock.now() - Date.parse(run.executionStartTimestamp);
    // A run that started in the future used another clock.
    return composeAnswer(
      { ...basis, elapsedMs: ms < 0 ? null : ms, interruption: aborted ? CANCELLED : null },
      outcome,
    );
  } catch (error) {
    return composeAnswer(basis, failedSynthesis(error));
  }
}

async function writeOrCompose(basis: AnswerBasis, id: string, parts: SynthesisParts): Promise<Writing> {
  const { model, limits, signal } = parts;
  if (signal?.aborted) return { outcome: composedOutcome(''), aborted: true };
  if (model === null) return { outcome: composedOutcome(''), aborted: false };
  const plan = planWriting(basis, model.contextWindowTokens);
  if (!plan.asks) return { outcome: plan.outcome, aborted: false };
  const writingLimits = { ...limits, totalMs: Math.min(limits.totalMs, limits.synthesisMs) };
  const policy = writingPolicy(
    { limits: writingLimits, prices: [], maxOutputTokens: [], fallbackModels: 0, policies: {} },
    plan,
  );
  return writeAnswer(model, { id, task: 'synthesis', input: plan.input, policy }, parts);
}

interface Writing {
  readonly outcome: SynthesisOutcome;
  readonly aborted: boolean;
}

/** Runs the attempt machine to let the model write the answer. After an abort, the outcome has the usage so far. */
function writeAnswer(
  model: ChatModel,
  input: AttemptInput,
  { spec, replyForm, clock, signal }: SynthesisParts,
): Promise<Writing> {
  const callScope = () => ({ clock, observer: noopCallObserver });
  const machine = provideAttempt({ models: [model], specFor: () => spec, replyForm, callScope });
  const actor = createActor(machine, { input, clock });
  let forgetSignal = (): void => {};
  const stopped = new Promise<Writing>((resolve) => {
    if (signal === null) return;
    forgetSignal = onAbort(signal, () => {
      resolve({ outcome: composedOutcome('', usageSoFar(usageInFlight(actor.getSnapshot().context))), aborted: true });
      actor.stop();
    });
  });
  const written = toPromise(actor).then((output): Writing => ({ outcome: outcomeOf(output), aborted: false }));
  actor.start();
  return Promise.race([stopped, written]).finally(() => forgetSignal());
}
