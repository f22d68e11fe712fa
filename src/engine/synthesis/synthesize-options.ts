import { z } from 'zod';
import type { Limits } from '../../../machines/contracts/budget.ts';
import type { ChatModel, ReplyForm } from '../../../machines/contracts/model.ts';
import { invalidOption } from '../../internal/invalid-option.ts';
import { aSignal } from '../../internal/option-schemas.ts';
import { type Clock, systemClock } from '../attempts/clock.ts';
import { askOf, type Prompt } from '../prompts/prompt.ts';
import type { PromptSpec } from '../prompts/prompt-spec.ts';
import { prompts } from '../prompts/registry.ts';
import { type PostChainOptions, readOptions } from '../runtime/options.ts';

/** What `synthesizeAnswer` takes; everything has a default. */
export interface SynthesizeOptions {
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

export interface SynthesisParts {
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
  signal: aSignal.nullable().optional(),
});

/** The options, checked and with their defaults. Throws `invalid_option`. */
export function readSynthesizeOptions(options: SynthesizeOptions): SynthesisParts {
  const named = namesSchema.safeParse(options);
  if (!named.success) throw invalidOption('The options', options, named.error, namesSchema);
  const { signal = null, ...others } = options;
  const { limits } = readOptions(others as PostChainOptions);
  return {
    model: options.model ?? null,
    ask: askOf(options.prompts?.synthesis ?? prompts.synthesis),
    replyForm: options.replyForm ?? 'text',
    limits,
    reserveTokens: options.limits?.synthesisReserveTokens ?? null,
    clock: options.clock ?? systemClock,
    signal,
  };
}
