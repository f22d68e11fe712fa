import { z } from 'zod';
import type { Feedback } from '../../machines/contracts/attempt.ts';
import type { ChatTurn } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';

/**
 * A prompt [E8]: a name, a version that goes up with every change of its words, the schemas of what goes in and what must come
 * out, and two templates. The reply's JSON Schema is put under the system template, so that it also reaches servers without
 * structured output.
 */
export interface Prompt<Input = never> {
  readonly name: Task;
  readonly version: number;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
  readonly system: (input: Input) => string;
  readonly user: (input: Input) => string;
}

export function definePrompt<Input>(prompt: Prompt<Input>): Prompt<Input> {
  return prompt;
}

interface OutputSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  /** The rule that every system turn ends with. */
  readonly rule: string;
}

const schemas = new WeakMap<z.ZodType, OutputSchema>();

function schemaOf({ output }: Prompt): OutputSchema {
  const known = schemas.get(output);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(output, { target: 'draft-7', io: 'output' });
  const rule = `Reply with one JSON object that fits this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
  const made = { schema, rule };
  schemas.set(output, made);
  return made;
}

/** The JSON Schema of a prompt's reply, made once. */
export function outputSchema(prompt: Prompt): Readonly<Record<string, unknown>> {
  return schemaOf(prompt).schema;
}

/** The turns of one call; after a reply that was not good, that reply and what was wrong with it [A9]. */
export function renderPrompt(prompt: Prompt, input: unknown, feedback: Feedback | null): readonly ChatTurn[] {
  const turns: ChatTurn[] = [
    { role: 'system', content: `${prompt.system(input as never)}\n\n${schemaOf(prompt).rule}` },
    { role: 'user', content: prompt.user(input as never) },
  ];
  if (feedback === null) return turns;
  return [
    ...turns,
    { role: 'assistant', content: feedback.previousReply || '(nothing)' },
    { role: 'user', content: `That reply cannot be used:\n${feedback.problem}\nReply again, corrected.` },
  ];
}
