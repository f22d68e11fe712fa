import * as z from 'zod/mini';
import type { PromptVersion } from '../../../machines/contracts/journal.ts';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import type { JsonSchema } from '../../internal/standard-schema.ts';
import type { Prompt } from './prompt.ts';
import { promptSpec } from './prompt-spec.ts';
import { sampleInputs } from './sample-inputs.ts';

/** A prompt in brief. `input` and `output` are the names of the fields of its input and of the reply. */
export interface PromptSummary {
  readonly name: PromptName;
  readonly version: number;
  readonly digest: string | null;
  readonly purpose: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
}

/** A prompt in full, rendered for its sample input, with the JSON Schema of the reply. */
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
    output: fieldsOf(promptSpec(prompt).shape.jsonSchema),
  };
}

/** Throws if the prompt does not accept its sample input. */
export function describePrompt(prompt: Prompt): PromptDescription {
  const sampleInput = sampleInputs[prompt.name];
  const { turns, shape } = promptSpec(prompt);
  const [system, user] = turns(sampleInput).map(({ content }) => content) as [string, string];
  return { ...summarizePrompt(prompt), sampleInput, system, user, replySchema: shape.jsonSchema };
}

/** Returns the properties of an object schema, or of all alternatives of a union. */
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

/** Returns the versions of a run's prompts, by task, for its journal. */
export function promptVersions(prompts: Readonly<Record<PromptName, Prompt>>): Record<string, PromptVersion> {
  return Object.fromEntries(
    Object.entries(prompts).map(([task, prompt]) => {
      const { name, version } = prompt;
      return [task, { name, version, digest: promptDigest(prompt) }];
    }),
  );
}

const digests = new WeakMap<Prompt, string | null>();

/**
 * Returns a digest of a prompt's wording, eight hexadecimal digits, which reveals a change whose version was not raised. It covers the
 * rendered sample input and the reply's schema, because the source of a template differs between builds. Null if the prompt does not
 * accept its sample input.
 */
export function promptDigest(prompt: Prompt): string | null {
  const known = digests.get(prompt);
  if (known !== undefined) return known;
  const digest = digestOf(prompt);
  digests.set(prompt, digest);
  return digest;
}

function digestOf(prompt: Prompt): string | null {
  try {
    const { turns, shape } = promptSpec(prompt);
    return hexDigest(JSON.stringify([turns(sampleInputs[prompt.name]), shape.jsonSchema]));
  } catch {
    return null;
  }
}

const schemaTexts = new WeakMap<object, string>();

/**
 * Returns a digest of the prompt of a model call: its turns, files, schema and tools. It verifies a prompt that is rendered again from
 * a journal.
 */
export function requestDigest({ turns, outputSchema, tools = [] }: ModelRequest): string {
  const schema = schemaTexts.get(outputSchema) ?? JSON.stringify(outputSchema);
  schemaTexts.set(outputSchema, schema);
  const texts = [
    ...turns.flatMap(({ role, content, files = [] }) => [
      ...files.map(({ digest, name }) => `${role}: ${digest} ${name}`),
      `${role}: ${content}`,
    ]),
    schema,
    ...tools.map((tool) => JSON.stringify(tool)),
  ];
  return hexDigest(texts.join('\n'));
}
