import { createActor } from 'xstate';
import { z } from 'zod';
import { usageSoFar } from '../../machines/attempt/state.ts';
import type { AttemptInput } from '../../machines/contracts/attempt.ts';
import type { Limits } from '../../machines/contracts/limits.ts';
import type { ChatModel, ReplyForm } from '../../machines/contracts/model.ts';
import type { FinalAnswer, SynthesisInput, SynthesisOutcome } from '../../machines/contracts/synthesis.ts';
import { composeAnswer, composeFrom } from '../../machines/policies/synthesis/compose.ts';
import { isKnown } from '../../machines/policies/synthesis/degradation.ts';
import { brokenOutcome, composedOutcome, outcomeOf } from '../../machines/policies/synthesis/outcome.ts';
import { type ReadSynthesisInput, readSynthesisInput } from '../../machines/policies/synthesis/read-input.ts';
import { planWriting, writingPolicy } from '../../machines/policies/synthesis/writing.ts';
import { onAbort } from '../internal/async.ts';
import { invalidOption, signalSchema } from '../internal/options.ts';
import { noopCallObserver, provideAttempt } from './attempts/provide-attempt.ts';
import { type Clock, systemClock } from './clock.ts';
import { type Prompt, type PromptSpec, promptSpec } from './prompts/prompt.ts';
import { prompts } from './prompts/registry.ts';
import { type PostChainOptions, parseOptions } from './runtime/options.ts';

/** What `synthesizeAnswer` takes; everything has a default. */
interface SynthesizeOptions {
  /** Writes the answer; without one the engine composes it from the results. */
  readonly model?: ChatModel | undefined;
  /** The prompt to use in place of the product's own. */
  readonly prompts?: { readonly synthesis?: Prompt } | undefined;
  /** How the reply is given: as JSON text (the default), or as the arguments of a tool call. */
  readonly replyForm?: ReplyForm | undefined;
  /** As of a chain; `synthesisMs` bounds the writing, `synthesisReserveTokens` its tokens. */
  readonly limits?: PostChainOptions['limits'] | undefined;
  readonly clock?: Clock | undefined;
  /** Aborting it breaks the writing off: the answer is composed, and says that it was cancelled. */
  readonly signal?: AbortSignal | undefined;
}

interface SynthesisParts {
  readonly model: ChatModel | null;
  readonly ask: PromptSpec;
  readonly replyForm: ReplyForm;
  readonly limits: Limits;
  /** The reserve that was asked for; null where nothing was said of it. */
  readonly reserveTokens: number | null;
  readonly clock: Clock;
  readonly signal: AbortSignal | null;
}

const given = z.unknown().optional();
const namesSchema = z.strictObject({
  model: given,
  prompts: z.strictObject({ synthesis: given }).optional(),
  replyForm: given,
  limits: given,
  clock: given,
  signal: signalSchema.nullable().optional(),
});

/** The options, checked and with their defaults. Throws `invalid_option`. */
function readSynthesizeOptions(options: SynthesizeOptions): SynthesisParts {
  const named = namesSchema.safeParse(options);
  if (!named.success) throw invalidOption('The options', options, named.error, namesSchema);
  const { signal = null, ...others } = options;
  const { limits } = parseOptions(others as PostChainOptions);
  return {
    model: options.model ?? null,
    ask: promptSpec(options.prompts?.synthesis ?? prompts.synthesis),
    replyForm: options.replyForm ?? 'text',
    limits,
    reserveTokens: options.limits?.synthesisReserveTokens ?? null,
    clock: options.clock ?? systemClock,
    signal,
  };
}

export type { SynthesizeOptions };

/**
 * The final answer of a run by itself, whoever made the run: its input is checked field by field, a model writes the text where one is
 * given, and the engine composes the rest. The promise never rejects, whatever the input is and the model does: what is wrong is told
 * in the answer.
 *
 * @param input As `SynthesisInput`; `run` may be left out, or any of its fields.
 * @throws PostChainError `invalid_option`, before anything starts, for options that make no sense.
 * @example
 * const { answerText, metadata } = await synthesizeAnswer(input, { model, signal });
 */
export function synthesizeAnswer(input: unknown, options: SynthesizeOptions = {}): Promise<FinalAnswer> {
  return synthesized(input, readSynthesizeOptions(options));
}

async function synthesized(given: unknown, parts: SynthesisParts): Promise<FinalAnswer> {
  try {
    const begunAtMs = parts.clock.now();
    const read = withReserve(readSynthesisInput(given), parts);
    const { outcome, aborted } = await written(read.input, parts);
    const elapsedMs = elapsed(read, begunAtMs, parts.clock.now());
    const interruption = aborted ? CANCELLED : read.input.run.interruption;
    return composeFrom(withRun(read, { elapsedMs, interruption }), outcome);
  } catch (error) {
    return composeAnswer(given, brokenOutcome(error));
  }
}

const CANCELLED = { kind: 'cancelled', reason: 'the signal was aborted' } as const;

async function written(input: SynthesisInput, parts: SynthesisParts): Promise<Writing> {
  const { model, limits, signal } = parts;
  if (signal?.aborted) return { outcome: composedOutcome(''), aborted: true };
  if (model === null) return { outcome: composedOutcome(''), aborted: false };
  const plan = planWriting(input, model.contextWindowTokens);
  if (!plan.asks) return { outcome: plan.outcome, aborted: false };
  const { synthesisReserveTokens } = input.run.limits;
  const bounds = {
    ...limits,
    synthesisReserveTokens: synthesisReserveTokens ?? limits.synthesisReserveTokens,
    totalMs: Math.min(limits.totalMs, limits.synthesisMs),
  };
  const id = `${input.correlationId}.synthesis`;
  return writeAnswer(
    model,
    {
      id,
      task: 'synthesis',
      input: plan.input,
      policy: writingPolicy({ limits: bounds, prices: [], fallbackModels: 0 }, plan),
    },
    parts,
  );
}

/** The reserve that the options ask for, else the run's own, else the default. */
function withReserve(read: ReadSynthesisInput, { reserveTokens, limits }: SynthesisParts): ReadSynthesisInput {
  const known = read.input.run.limits;
  const synthesisReserveTokens = reserveTokens ?? known.synthesisReserveTokens ?? limits.synthesisReserveTokens;
  return withRun(read, { limits: { ...known, synthesisReserveTokens } });
}

function withRun({ input, problems }: ReadSynthesisInput, run: Partial<SynthesisInput['run']>): ReadSynthesisInput {
  return { input: { ...input, run: { ...input.run, ...run } }, problems };
}

/** Of the run with its synthesis; by its start, where the run does not say how long it took; null where the clock is another one. */
function elapsed(read: ReadSynthesisInput, begunAtMs: number, endedAtMs: number): number | null {
  const { run, executionStartTimestamp } = read.input;
  const startedAtMs = isKnown(read, 'executionStartTimestamp') ? Date.parse(executionStartTimestamp) : Number.NaN;
  const tookMs = run.elapsedMs === null ? endedAtMs - startedAtMs : run.elapsedMs + (endedAtMs - begunAtMs);
  return Number.isFinite(tookMs) && tookMs >= 0 ? tookMs : null;
}

interface Writing {
  readonly outcome: SynthesisOutcome;
  readonly aborted: boolean;
}

/** Has the model write the answer, through the attempt machine. It never rejects; aborted, it says what was used until then. */
function writeAnswer(
  model: ChatModel,
  input: AttemptInput,
  { ask, replyForm, clock, signal }: SynthesisParts,
): Promise<Writing> {
  return new Promise((resolve) => {
    const machine = provideAttempt({
      models: [model],
      specFor: () => ask,
      replyForm,
      clock,
      observer: noopCallObserver,
    });
    const actor = createActor(machine, { input, clock });
    let forget = (): void => {};
    const end = (outcome: SynthesisOutcome, aborted = false): void => {
      forget();
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
      end(composedOutcome('', usageSoFar(actor.getSnapshot().context)), true);
      actor.stop();
    };
    if (signal !== null) forget = onAbort(signal, abort);
    actor.start();
  });
}
