import { z } from 'zod';
import type { PromptVersion } from '../../../machines/contracts/journal.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { hexDigest } from '../../../machines/text/hash.ts';
import type { JsonSchema } from '../../internal/standard-schema.ts';
import { type Prompt, promptSpec } from './prompt.ts';
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
    output: fieldsOf(promptSpec(prompt).shape.jsonSchema),
  };
}

/** Throws for a prompt whose input the sample does not fit. */
export function describePrompt(prompt: Prompt): PromptDescription {
  const sampleInput = sampleInputs[prompt.name];
  const { turns, shape } = promptSpec(prompt);
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

/** The prompts that a run was made with, by task: for its journal [E8]. */
export function promptVersions(prompts: Readonly<Record<Task, Prompt>>): Record<string, PromptVersion> {
  return Object.fromEntries(
    Object.entries(prompts).map(([task, prompt]) => {
      const { name, version } = prompt;
      return [task, { name, version, digest: promptDigest(prompt) }];
    }),
  );
}

const digests = new WeakMap<Prompt, string | null>();

/**
 * A short name for the words of a prompt, eight hexadecimal digits: it changes with them also where its version was forgotten. Templates
 * are functions, whose source differs from build to build, so it is made from what they say of the task's sample input and from
 * the reply's schema. Null for a prompt that cannot take the sample.
 */
export function promptDigest(prompt: Prompt): string | null {
  const known = digests.get(prompt);
  if (known !== undefined) return known;
  const made = digestOf(prompt);
  digests.set(prompt, made);
  return made;
}

function digestOf(prompt: Prompt): string | null {
  try {
    const { turns, shape } = promptSpec(prompt);
    const said = JSON.stringify([turns(sampleInputs[prompt.name]), shape.jsonSchema]);
    return hexDigest(said);
  } catch {
    return null;
  }
}
