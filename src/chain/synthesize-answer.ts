import { createActor } from 'xstate';
import * as z from 'zod/mini';
import { usageInFlight } from '../../machines/attempt/state.ts';
import type { AttemptInput } from '../../machines/contracts/attempt.ts';
import type { Limits } from '../../machines/contracts/limits.ts';
import type { ChatModel, ReplyForm } from '../../machines/contracts/model.ts';
import type { FinalAnswer, SynthesisInput, SynthesisOutcome } from '../../machines/contracts/synthesis.ts';
import { composeAnswer, composeFrom, isKnown } from '../../machines/policies/synthesis/compose.ts';
import { brokenOutcome, composedOutcome, outcomeOf } from '../../machines/policies/synthesis/outcome.ts';
import { type ReadSynthesisInput, readSynthesisInput } from '../../machines/policies/synthesis/read-input.ts';
import { planWriting, writingPolicy } from '../../machines/policies/synthesis/writing.ts';
import { usageSoFar } from '../../machines/policies/usage.ts';
import { type Clock, systemClock } from '../durable/clock.ts';
import { onAbort } from '../internal/async.ts';
import { parseOption, signalSchema } from '../internal/options.ts';
import { noopCallObserver, provideAttempt } from '../llm/attempts/provide-attempt.ts';
import type { PromptSpec } from '../llm/request.ts';
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

interface SynthesisParts {
  readonly model: ChatModel | null;
  readonly spec: PromptSpec;
  readonly replyForm: ReplyForm;
  readonly limits: Limits;
  /** The reserve set in the options, or null. */
  readonly reserveTokens: number | null;
  readonly clock: Clock;
  readonly signal: AbortSignal | null;
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

/** Throws `invalid_option`. */
function resolveSynthesizeOptions(options: SynthesizeOptions): SynthesisParts {
  parseOption(optionsSchema, options, 'options');
  const { signal = null, ...others } = options;
  const { limits } = parseOptions(others as PostChainOptions);
  return {
    model: options.model ?? null,
    spec: promptSpec(options.prompts?.synthesis ?? prompts.synthesis),
    replyForm: options.replyForm ?? 'text',
    limits,
    reserveTokens: options.limits?.synthesisReserveTokens ?? null,
    clock: options.clock ?? systemClock,
    signal,
  };
}

/**
 * Returns the final answer for the results of a run of any engine. The input is validated field by field. The model, if there is one,
 * writes the text; the engine composes the rest. The promise never rejects: the answer states what is missing or failed.
 *
 * @param input A `SynthesisInput`; `run` and its fields are optional.
 * @throws PostChainError `invalid_option`, before anything starts.
 * @example
 * const { answerText, metadata } = await synthesizeAnswer(input, { model, signal });
 */
export function synthesizeAnswer(input: unknown, options: SynthesizeOptions = {}): Promise<FinalAnswer> {
  return synthesize(input, resolveSynthesizeOptions(options));
}

const CANCELLED = { kind: 'cancelled', reason: 'the signal was aborted' } as const;

async function synthesize(input: unknown, parts: SynthesisParts): Promise<FinalAnswer> {
  try {
    const startedAtMs = parts.clock.now();
    const read = withReserve(readSynthesisInput(input), parts);
    const { outcome, aborted } = await writeOrCompose(read.input, parts);
    const elapsedMs = elapsedMsOf(read, startedAtMs, parts.clock.now());
    const interruption = aborted ? CANCELLED : read.input.run.interruption;
    return composeFrom(withRun(read, { elapsedMs, interruption }), outcome);
  } catch (error) {
    return composeAnswer(input, brokenOutcome(error));
  }
}

async function writeOrCompose(input: SynthesisInput, parts: SynthesisParts): Promise<Writing> {
  const { model, limits, signal } = parts;
  if (signal?.aborted) return { outcome: composedOutcome(''), aborted: true };
  if (model === null) return { outcome: composedOutcome(''), aborted: false };
  const plan = planWriting(input, model.contextWindowTokens);
  if (!plan.asks) return { outcome: plan.outcome, aborted: false };
  const { synthesisReserveTokens } = input.run.limits;
  const writingLimits = {
    ...limits,
    synthesisReserveTokens: synthesisReserveTokens ?? limits.synthesisReserveTokens,
    totalMs: Math.min(limits.totalMs, limits.synthesisMs),
  };
  const policy = writingPolicy({ limits: writingLimits, prices: [], fallbackModels: 0, policies: {} }, plan);
  const id = `${input.correlationId}.synthesis`;
  return writeAnswer(model, { id, task: 'synthesis', input: plan.input, policy }, parts);
}

/** Sets the token reserve: from the options, otherwise from the input's run, otherwise the default. */
function withReserve(read: ReadSynthesisInput, { reserveTokens, limits }: SynthesisParts): ReadSynthesisInput {
  const known = read.input.run.limits;
  const synthesisReserveTokens = reserveTokens ?? known.synthesisReserveTokens ?? limits.synthesisReserveTokens;
  return withRun(read, { limits: { ...known, synthesisReserveTokens } });
}

function withRun({ input, problems }: ReadSynthesisInput, run: Partial<SynthesisInput['run']>): ReadSynthesisInput {
  return { input: { ...input, run: { ...input.run, ...run } }, problems };
}

/** Returns the duration of the run including its synthesis, or null if it is unknown or the run used another clock. */
function elapsedMsOf(read: ReadSynthesisInput, startedAtMs: number, endedAtMs: number): number | null {
  const { run, executionStartTimestamp } = read.input;
  const runStartedAtMs = isKnown(read, 'executionStartTimestamp') ? Date.parse(executionStartTimestamp) : Number.NaN;
  const elapsedMs = run.elapsedMs === null ? endedAtMs - runStartedAtMs : run.elapsedMs + (endedAtMs - startedAtMs);
  return Number.isFinite(elapsedMs) && elapsedMs >= 0 ? elapsedMs : null;
}

interface Writing {
  readonly outcome: SynthesisOutcome;
  readonly aborted: boolean;
}

/** Runs the attempt machine to let the model write the answer. Never rejects; after an abort, the outcome has the usage so far. */
function writeAnswer(
  model: ChatModel,
  input: AttemptInput,
  { spec, replyForm, clock, signal }: SynthesisParts,
): Promise<Writing> {
  return new Promise((resolve) => {
    const machine = provideAttempt({
      models: [model],
      specFor: () => spec,
      replyForm,
      callScope: () => ({ clock, observer: noopCallObserver }),
    });
    const actor = createActor(machine, { input, clock });
    let forgetSignal = (): void => {};
    const end = (outcome: SynthesisOutcome, aborted = false): void => {
      forgetSignal();
      resolve({ outcome, aborted });
    };
    actor.subscribe({
      error: (error) => end(brokenOutcome(error)),
      complete: () => {
        const { output } = actor.getSnapshot();
        if (output !== undefined) end(outcomeOf(output));
      },
    });
    const abort = (): void => {
      end(composedOutcome('', usageSoFar(usageInFlight(actor.getSnapshot().context))), true);
      actor.stop();
    };
    if (signal !== null) forgetSignal = onAbort(signal, abort);
    actor.start();
  });
}
