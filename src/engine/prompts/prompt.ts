import type { z } from 'zod';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { replySchemas } from '../../../machines/contracts/phases/reply.ts';
import { type OutputShape, outputShape, validate } from '../schemas/output-shape.ts';
import type { PromptSpec, ToolUse } from './prompt-spec.ts';

/**
 * A prompt [E8]: a name, a version that goes up with every change of its words, a purpose, the schemas of what goes in and what must come
 * out, and two templates. The reply's JSON Schema is put under the system template, so that it also reaches servers without
 * structured output. One that says its `tools` is answered by a call of one of them too, where the model takes tools; its system
 * template then leaves them out.
 */
export interface Prompt<Input = never> extends ToolUse<Input> {
  readonly name: Task;
  readonly version: number;
  /** What it is for, in a sentence. */
  readonly purpose: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
}

export function definePrompt<Input>(prompt: Prompt<Input>): Prompt<Input> {
  return prompt;
}

const asks = new WeakMap<Prompt, PromptSpec>();

/** What a prompt asks of a model; made once, as its JSON Schema is. */
export function askOf(prompt: Prompt): PromptSpec {
  const known = asks.get(prompt);
  if (known !== undefined) return known;
  const made: PromptSpec = {
    schemaName: `${prompt.name}_reply`,
    shape: replyShape(prompt),
    turns: (input) => turnsOf(prompt, input),
    tools: prompt.tools && ((input) => prompt.tools?.(input as never) ?? []),
    fromToolCall: prompt.fromToolCall,
    toolsInWords: prompt.toolsInWords && ((input) => prompt.toolsInWords?.(input as never) ?? ''),
  };
  asks.set(prompt, made);
  return made;
}

function turnsOf(prompt: Prompt, input: unknown): readonly ChatTurn[] {
  const checked = prompt.input.safeParse(input);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const where = issue?.path.join('.') || 'the input';
    throw new TypeError(`The input of "${prompt.name}" does not fit: ${where}: ${issue?.message ?? 'misfit'}`);
  }
  return [
    { role: 'system', content: prompt.system(input as never) },
    { role: 'user', content: prompt.user(input as never) },
  ];
}

/** A prompt of the user's may have a schema of its own: its value must fit the chain's too, which reads it. */
function replyShape({ name, output }: Prompt): OutputShape {
  const shape = outputShape(output, name);
  const own = replySchemas[name];
  if (output === own) return shape;
  return {
    ...shape,
    validate: async (value) => {
      const checked = await shape.validate(value);
      if (!checked.ok) return checked;
      const read = await validate(own, name, checked.value);
      return read.ok ? checked : read;
    },
  };
}
