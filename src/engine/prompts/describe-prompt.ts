import { z } from 'zod';
import type { Task } from '../../../machines/contracts/phase.ts';
import type { JsonSchema } from '../../internal/schemas/standard-schema.ts';
import { askOf, type Prompt } from './prompt.ts';
import { promptDigest } from './prompt-versions.ts';
import { sampleInputs } from './sample-inputs.ts';

/** A prompt in short: `input` and `output` are the names of the fields that go in and must come out. */
export interface PromptSummary {
  readonly name: Task;
  readonly version: number;
  readonly digest: string | null;
  readonly purpose: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** A prompt whole: what its templates say of a sample input, and the JSON Schema that a reply must fit. */
export interface PromptDescription extends PromptSummary {
  readonly sampleInput: object;
  readonly system: string;
  readonly user: string;
  readonly replySchema: JsonSchema;
}

export function summarizePrompt(prompt: Prompt): PromptSummary {
  const { name, version, purpose } = prompt;
  return {
    name,
    version,
    digest: promptDigest(prompt),
    purpose,
    input: fieldsOf(z.toJSONSchema(prompt.input, { io: 'input', unrepresentable: 'any' })),
    output: fieldsOf(askOf(prompt).shape.jsonSchema),
  };
}

/** Throws for a prompt whose input the sample does not fit. */
export function describePrompt(prompt: Prompt): PromptDescription {
  const sampleInput = sampleInputs[prompt.name];
  const { turns, shape } = askOf(prompt);
  const said = turns(sampleInput);
  const saidBy = (role: string): string =>
    said.flatMap((turn) => (turn.role === role ? [turn.content] : [])).join('\n\n');
  const [system, user] = [saidBy('system'), saidBy('user')];
  return { ...summarizePrompt(prompt), sampleInput, system, user, replySchema: shape.jsonSchema };
}

/** The fields of an object, or of all objects that it may be. */
function fieldsOf(schema: JsonSchema): readonly string[] {
  const {
    properties = {},
    anyOf = [],
    oneOf = [],
  } = schema as {
    properties?: object;
    anyOf?: readonly JsonSchema[];
    oneOf?: readonly JsonSchema[];
  };
  return [...new Set([...Object.keys(properties), ...[...anyOf, ...oneOf].flatMap(fieldsOf)])];
}
