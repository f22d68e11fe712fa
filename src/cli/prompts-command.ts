import wrapAnsi from 'wrap-ansi';
import type * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { PromptName } from '../../machines/contracts/phase.ts';
import type { Prompt } from '../chain/prompts/prompt.ts';
import { promptSpec } from '../chain/prompts/prompt-spec.ts';
import { prompts } from '../chain/prompts/registry.ts';
import { oneLine, printableJson } from '../internal/printable.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';
import { type Colors, colorsFor } from './screen.ts';

export interface PromptsFlags {
  readonly json?: boolean;
}

/** `input` and `output` are the names of the fields of its input and of the reply. */
interface PromptSummary {
  readonly name: PromptName;
  readonly version: number;
  readonly purpose: string;
  readonly input: readonly string[];
  readonly output: readonly string[];
}

const MAX_COLUMNS = 120;

const PURPOSES: Readonly<Record<PromptName, string>> = {
  action: 'Answers the request from the current context, and may request capabilities.',
  experience: 'Summarizes what the retrieved passages say about the request, and what is still missing.',
  intention: 'States the goal of the request, alternative interpretations, and how clear the request is.',
  observation: 'Records what is worth remembering: insights, entities, connections and importance.',
  understanding: 'Integrates what is known, and rates messages whose relevance has changed.',
  yield: 'Gives the best answer so far, and decides whether to continue and with which phase.',
  continuation: 'Decides after each step whether to run more capabilities, if the model is the decider.',
  summary: 'Summarizes long messages.',
  synthesis: 'Writes the final answer for its reader.',
  value: 'States the answer as a value of the schema that a run was given.',
  brief: 'Reads or answers in one call for several phases, and reports only exceptions.',
  grading: 'Grades an answer, if the chain has a grading model.',
};

export function promptsCommand(
  name: string | undefined,
  { json }: PromptsFlags,
  stdout: NodeJS.WriteStream = process.stdout,
): string {
  const all = Object.values<Prompt>(prompts);
  const only = name === undefined ? null : promptNamed(name, all);
  const replySchema = only && promptSpec(only).shape.jsonSchema;
  if (json) {
    const shown = only === null ? all.map(summaryOf) : { ...summaryOf(only), replySchema };
    return `${printableJson(JSON.stringify(shown, null, 2))}\n`;
  }
  const colors = colorsFor(stdout);
  const columns = stdout.isTTY ? Math.min(Math.max(40, stdout.columns || 80), MAX_COLUMNS) : Infinity;
  if (only === null) return all.map((one) => summaryText(summaryOf(one), colors, columns)).join('\n');
  const heading = `${colors.bold('Reply')} ${colors.dim('(JSON Schema)')}`;
  const schemaText = printableJson(JSON.stringify(replySchema, null, 2));
  return `${summaryText(summaryOf(only), colors, columns)}\n${heading}\n${schemaText}\n`;
}

function promptNamed(name: string, all: readonly Prompt[]): Prompt {
  const found = all.find((prompt) => prompt.name === name);
  if (found !== undefined) return found;
  const names = all.map((prompt) => prompt.name).join(', ');
  throw new PostChainError('invalid_option', `Unknown prompt "${oneLine(name)}"; expected ${names}`);
}

function summaryOf(prompt: Prompt): PromptSummary {
  const { name, version } = prompt;
  const output = fieldsOf(promptSpec(prompt).shape.jsonSchema);
  return { name, version, purpose: PURPOSES[name], input: fieldsIn(prompt.input), output };
}

/** Like `fieldsOf`, but without zod's JSON Schema converter, so that imports of the package do not read it. */
function fieldsIn(schema: z.core.$ZodType): readonly string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'union') return [...new Set(def.options.flatMap(fieldsIn))];
  return def.type === 'object' ? Object.keys(def.shape) : [];
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

function summaryText({ name, version, purpose, input, output }: PromptSummary, { bold, dim }: Colors, columns: number) {
  const row = (label: string, text: string): string => {
    const wrapped = Number.isFinite(columns) ? wrapAnsi(text, columns - label.length) : text;
    return `${dim(label)}${wrapped.replace(/\n/g, `\n${' '.repeat(label.length)}`)}\n`;
  };
  const fields = row('  input   ', input.join(', ')) + row('  output  ', output.join(', '));
  return `${bold(name)} ${dim(`v${version}`)}\n${row('  ', purpose)}${fields}`;
}
