import * as z from 'zod/mini';
import { answerGradesSchema } from '../../../machines/contracts/grading.ts';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phase-io.ts';
import { zodJsonSchema } from '../../internal/zod-json-schema.ts';
import { type OutputShape, outputShape, validate } from '../schemas/output-shape.ts';
import type { PromptSpec, ToolUse } from './request.ts';

/** The confidence of a reply that a model gave in prose: nothing states how sure it is. */
export const PROSE_CONFIDENCE = 0.2;

/** A prompt: the schemas of its input and output, and two templates. The reply's JSON Schema is appended to the system template. */
export interface Prompt<Input = never> extends ToolUse<Input> {
  readonly name: PromptName;
  /** Raised with every change of the wording. */
  readonly version: number;
  /** One sentence. */
  readonly purpose: string;
  readonly input: z.core.$ZodType;
  readonly output: z.core.$ZodType;
  /** If the prompt has `tools`, leaves them out. */
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
  /** Returns the reply for a model that answers in prose: the text in the main field. Without it, prose is not accepted. */
  readonly fromProse?: ((text: string) => unknown) | undefined;
}

export function definePrompt<Input>(prompt: Prompt<Input>): Prompt<Input> {
  return prompt;
}

const specs = new WeakMap<Prompt, PromptSpec>();

/** Returns the spec of a prompt. Cached, because it converts the schema to JSON Schema. */
export function promptSpec(prompt: Prompt): PromptSpec {
  const known = specs.get(prompt);
  if (known !== undefined) return known;
  const spec: PromptSpec = {
    schemaName: `${prompt.name}_reply`,
    shape: replyShape(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromProse: prompt.fromProse,
    fromToolCalls: prompt.fromToolCalls,
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
  specs.set(prompt, spec);
  return spec;
}

function turnsOf(prompt: Prompt, input: unknown): readonly ChatTurn[] {
  const read = z.safeParse(prompt.input, input);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'the input';
    throw new TypeError(`The prompt "${prompt.name}" received an invalid input: ${where}: ${issue?.message}`);
  }
  return [
    { role: 'system', content: prompt.system(input as never) },
    { role: 'user', content: prompt.user(input as never) },
  ];
}

const builtInSchemas = { ...replySchemas, grading: answerGradesSchema };

/** The reply to a user's prompt must match the built-in schema too, because the chain reads its fields. */
function replyShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(output, name, zodJsonSchema(output));
  const builtIn = builtInSchemas[name];
  if (output === builtIn) return shape;
  return {
    ...shape,
    validate: async (value) => {
      const validation = await shape.validate(value);
      if (!validation.ok) return validation;
      const readable = await validate(builtIn, name, validation.value);
      return readable.ok ? validation : readable;
    },
  };
}
