import type * as z from 'zod/mini';
import type { ContinuationInput } from '../../../machines/contracts/capability.ts';
import type { GradingInput } from '../../../machines/contracts/grading.ts';
import type { Phase, PromptName } from '../../../machines/contracts/phase.ts';
import type { PhaseInput, SummaryInput } from '../../../machines/contracts/phase-io.ts';
import type { AnswerMaterial, ValueInput } from '../../../machines/contracts/synthesis.ts';
import type { PromptTools } from '../../llm/request.ts';

/** The confidence of a reply that a model gave in prose: nothing states how sure it is. */
export const PROSE_CONFIDENCE = 0.2;

/** The input of each prompt, by its name. */
export type PromptInputs = { readonly [P in Phase]: Extract<PhaseInput, { phase: P }> } & {
  readonly continuation: ContinuationInput;
  readonly summary: SummaryInput;
  readonly synthesis: AnswerMaterial;
  readonly value: ValueInput;
  readonly grading: GradingInput;
  readonly brief: BriefInput;
};

/** The input of the phase that makes the call, and the phases that the reply is for. */
export type BriefInput = PhaseInput & { readonly replyTo: readonly Phase[] };

/**
 * A prompt: the schemas of its input and output, and its templates. The reply's JSON Schema is appended to the system template.
 * Without a type argument, a prompt whose input is unknown.
 */
export interface Prompt<Input = never, Name extends PromptName = PromptName> extends PromptTools<Input> {
  readonly name: Name;
  /** Raised with every change of the wording. */
  readonly version: number;
  readonly input: z.core.$ZodType;
  readonly output: z.core.$ZodType;
  /** If the prompt has `tools`, leaves them out. */
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
  /**
   * What this call must do: the end of the user turn. The built-in prompts of the phases differ only in it, so everything before it is
   * the same in consecutive calls, and providers cache it.
   */
  readonly task?: ((input: Input) => string) | undefined;
  /** Returns the reply for a model that answers in prose: the text in the main field. Without it, prose is not accepted. */
  readonly fromProse?: ((text: string) => unknown) | undefined;
}

/** Returns the prompt. Its templates receive the input of the prompt with this name. */
export function definePrompt<Name extends PromptName>(
  prompt: Prompt<PromptInputs[Name], Name>,
): Prompt<PromptInputs[Name], Name> {
  return prompt;
}
