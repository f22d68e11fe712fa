import * as z from 'zod/mini';
import { shallowObjectSchema } from '../../../machines/contracts/events.ts';
import type { JsonNode } from '../../internal/json-schema.ts';
import { nestedSchema } from '../../llm/schemas/output-shape.ts';
import { invalid } from '../context.ts';
import { HttpError } from '../http-error.ts';
import type { ClientRequest } from '../served-runs.ts';

type Body = Readonly<Record<string, unknown>>;
type ClientTool = NonNullable<ClientRequest['clientTools']>[number];

const toolSchema = z.object({
  name: z.string(),
  description: z.nullish(z.string()),
  parameters: z.nullish(shallowObjectSchema),
});

/** For a function without `parameters`, or with `{}`. */
const NO_ARGUMENTS = { type: 'object', properties: {} };

/** Returns the function tools of a request in either API. */
export function clientToolsOf({ tools }: Body): readonly ClientTool[] {
  if (!Array.isArray(tools ?? [])) throw invalid('tools', 'expected an array of functions', tools);
  return ((tools as readonly unknown[] | null | undefined) ?? []).map((tool): ClientTool => {
    const { type, function: nested = tool } = Object(tool);
    if (type !== 'function')
      throw invalid('tools', 'expected functions, because the server has no tools of its own to offer', type);
    const read = toolSchema.safeParse(nested);
    if (!read.success) {
      const [{ path, message } = { path: [], message: '' }] = read.error.issues;
      throw invalid('tools', `function${path.map((name) => `.${String(name)}`).join('')}: ${message}`, nested);
    }
    const { name, description, parameters } = read.data;
    return {
      name,
      description: description || name,
      arguments: Object.keys(parameters ?? {}).length === 0 ? NO_ARGUMENTS : { type: 'object', ...parameters },
    };
  });
}

/** Which tools of a request the model may call, and whether it must. */
interface ToolChoice {
  readonly mode: 'none' | 'auto' | 'required';
  /** Null for all tools. */
  readonly names: readonly string[] | null;
}

const EXPECTED_CHOICE = 'expected "none", "auto", "required", a function, or allowed_tools with functions';
const MODES: ReadonlySet<unknown> = new Set(['none', 'auto', 'required']);

/** A tool in a choice, in either API. */
function nameIn(tool: unknown): string {
  const { type, name: own, function: nested } = Object(tool);
  const name = own ?? Object(nested).name;
  if (type !== 'function' || typeof name !== 'string') throw invalid('tool_choice', EXPECTED_CHOICE, tool);
  return name;
}

function choiceOf({ tool_choice: given }: Body): ToolChoice {
  const choice = given ?? 'auto';
  if (MODES.has(choice)) return { mode: choice as ToolChoice['mode'], names: null };
  const { type, allowed_tools: nested = choice } = Object(choice);
  if (type !== 'allowed_tools') return { mode: 'required', names: [nameIn(choice)] };
  const { mode, tools } = Object(nested);
  if (!MODES.has(mode) || !Array.isArray(tools)) throw invalid('tool_choice', EXPECTED_CHOICE, choice);
  return { mode, names: tools.map(nameIn) };
}

const formatSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    description: z.nullish(z.string()),
    schema: z.nullish(shallowObjectSchema),
  }),
]);

/** Returns the JSON Schema of the answer in either API; null for text. */
function formatOf({ response_format, text }: Body): JsonNode | null {
  const param = response_format == null ? 'text.format' : 'response_format';
  const given = response_format ?? Object(text).format ?? { type: 'text' };
  const { json_schema: nested = {}, ...format } = Object(given);
  const read = formatSchema.safeParse({ ...format, ...Object(nested) });
  if (!read.success)
    throw invalid(param, 'expected the type "text", "json_object" or "json_schema" with a schema', given);
  if (read.data.type === 'text') return null;
  if (read.data.type === 'json_object') return { type: 'object' };
  const { description, schema } = read.data;
  return { ...(description && { description }), ...schema };
}

/**
 * What the response to a request ends with: text, the JSON text of a value, or a call of one of these tools, which are not offered to the
 * run. It is stored with the run.
 */
export type Returned = { readonly calls: readonly string[] } | 'value' | 'text';

export interface AnswerRequest {
  readonly returned: Returned;
  readonly asked: Pick<ClientRequest, 'clientTools' | 'answer'>;
}

/**
 * Returns what a request asks its answer to be. A forced call is a value: of the arguments of the tool or, for several tools, an object with
 * the name of one and its arguments.
 */
export function answerRequestOf(body: Body): AnswerRequest {
  const { mode, names } = choiceOf(body);
  const all = clientToolsOf(body);
  const unknown = names?.find((name) => !all.some((tool) => tool.name === name));
  if (unknown !== undefined) throw invalid('tool_choice', 'expected the name of one of the tools', unknown);
  const tools = names === null ? all : all.filter(({ name }) => names.includes(name));
  const format = formatOf(body);
  if (mode === 'required') {
    const [only, ...others] = tools;
    if (only === undefined) throw invalid('tool_choice', 'expected tools to choose from; received none');
    const answer = others.length === 0 ? only.arguments : { anyOf: tools.map(callSchema) };
    return { returned: { calls: tools.map(({ name }) => name) }, asked: { answer } };
  }
  return {
    returned: format === null ? 'text' : 'value',
    asked: {
      ...(mode === 'auto' && tools.length > 0 && { clientTools: tools }),
      ...(format !== null && { answer: format }),
    },
  };
}

/** Its references point to its place in the schema of the value. */
const callSchema = ({ name, description, arguments: parameters }: ClientTool, at: number): JsonNode => ({
  type: 'object',
  description,
  properties: { name: { const: name }, arguments: nestedSchema(`/anyOf/${at}/properties/arguments`, parameters) },
  required: ['name', 'arguments'],
  additionalProperties: false,
});

/**
 * Waits for the start of a run. An error about its tools names the parameter of these protocols, and so does one about the form of its
 * `answer`.
 */
export async function withToolErrors<Started>(start: Promise<Started>, answer = 'answer'): Promise<Started> {
  try {
    return await start;
  } catch (error) {
    const { code, message } = Object(error);
    const isOfRequest = code === 'invalid_option' || code === 'unsupported_parameter';
    const [, member, problem] = (isOfRequest && /^(clientTools|answer): (.*)$/su.exec(message)) || [];
    if (member === undefined) throw error;
    const param = member === 'answer' ? answer : 'tools';
    throw new HttpError(400, code, `${param}: ${problem}`, {}, param);
  }
}

const hasLengthZero = (value: unknown): boolean => Object(value).length === 0;
const isEmpty = (value: unknown): boolean => Object.keys(Object(value)).length === 0;
const isNoTool = (choice: unknown): boolean => choice === 'auto' || choice === 'none';
const isOnlyText = (modalities: unknown): boolean => [modalities].flat().every((modality) => modality === 'text');
const never = (): boolean => false;
const OWN_CHOICE = 'leave it out, because the chain chooses its tools';
const ONLY_TEXT = 'leave it out, because answers are text';

/** Parameters that would change the answer, with a check for harmless values, and advice. All others are ignored. */
const UNSUPPORTED: readonly (readonly [string, (value: unknown) => boolean, string?])[] = [
  ['functions', hasLengthZero, 'send tools'],
  ['function_call', isNoTool, 'send tool_choice'],
  ['modalities', isOnlyText, ONLY_TEXT],
  ['audio', never, ONLY_TEXT],
  ['n', (count) => count === 1, 'leave it out, because a run has one answer'],
  ['stop', hasLengthZero],
  ['logprobs', (isAsked) => isAsked === false],
  ['top_logprobs', (count) => count === 0],
  ['logit_bias', isEmpty],
  ['include', (names) => ![names].flat().includes('message.output_text.logprobs'), 'leave out the log probabilities'],
  ['max_tool_calls', never, 'leave it out; the limits of the chain apply'],
  ['moderation', never],
  ['web_search_options', never, OWN_CHOICE],
  ['prompt', never, 'send the texts as instructions and input'],
  ['conversation', never, 'use previous_response_id'],
];

/** Throws an `HttpError` 400 for a parameter that a run does not support. */
export function requireSupported(body: Body): void {
  for (const [name, isHarmless, advice = 'leave it out'] of UNSUPPORTED) {
    const value = body[name] ?? null;
    if (value !== null && !isHarmless(value))
      throw new HttpError(400, 'unsupported_parameter', `${name}: not supported; ${advice}.`, {}, name);
  }
}
