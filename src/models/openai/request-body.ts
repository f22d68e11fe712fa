import type {
  ChatCompletionContentPart,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import type {
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParamsNonStreaming,
  ResponseInputContent,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { AttachedFile } from '../../../machines/contracts/message.ts';
import type { ChatTurn, ModelRequest, ToolOffer } from '../../../machines/contracts/model.ts';
import { type JsonNode, jsonInstruction, nullRemover, schemaKey, schemaText } from '../../internal/json-schema.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';
import { isOpenAI, type OpenAIApi, type OpenAISettings } from './options.ts';
import {
  BARE,
  bareToolText,
  offersTools,
  sendableSchema,
  type ToolLevel,
  type ToolLevels,
} from './schema-rejections.ts';
import { withListedScores } from './score-limits.ts';
import { strictSchema } from './strict-schema.ts';

/** The features of OpenAI's API that a request uses. Many servers implement the API, few in full. Values are ordered from rich to poor. */
export interface Dialect {
  readonly api: OpenAIApi;
  /** How the schema of a text reply is requested. */
  readonly format: 'strict_schema' | 'json_schema' | 'json_object' | 'text';
  /** How the call of the reply's tool is requested if no other tools are offered. */
  readonly toolChoice: 'named' | 'required' | 'auto' | 'omitted';
  /** How the schema of the reply's tool is sent. */
  readonly replyTool: ToolLevel;
  /** How other tools are offered: with strict schemas, with plain schemas, or described in the prompt. */
  readonly offers: 'strict' | 'plain' | 'prompt';
  /** The tools that are offered in another way. */
  readonly tools: ToolLevels;
  /** How a call is requested if other tools are offered, too. */
  readonly anyChoice: 'required' | 'auto' | 'omitted';
  /** The Responses API always sends them. */
  readonly usage: boolean;
  /** How numbers from 0 to 1 in the reply are limited. */
  readonly scores: 'limited' | 'listed';
  /** The parameter for the maximum length of a reply in a chat completion. */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
}

/** The content of a request, before it is converted to the format of an API. */
interface Prompt {
  readonly turns: readonly ChatTurn[];
  readonly format: 'json_object' | ReplySchema | null;
  readonly tools: readonly ToolSchema[];
  /** Null: not sent. */
  readonly choice: 'required' | 'auto' | { readonly name: string } | null;
}

interface ReplySchema {
  readonly name: string;
  readonly schema: Record<string, unknown>;
  readonly strict: boolean;
}

interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly parameters: Record<string, unknown>;
  readonly strict: boolean;
}

/** The client's types have one type per value of `stream`. */
type ChatBody = Omit<ChatCompletionCreateParamsNonStreaming, 'stream'> & { readonly stream: boolean };
type Effort = NonNullable<ChatBody['reasoning_effort']>;
type ResponsesBody = Omit<ResponseCreateParamsNonStreaming, 'stream'> & { readonly stream: boolean };

/**
 * OpenAI stores chat completions of new accounts by default. `parallel_tool_calls` is never sent, because reasoning models and many servers
 * reject it.
 */
export function chatBody(request: ModelRequest, settings: OpenAISettings, dialect: Dialect): ChatBody {
  const { turns, format, tools, choice } = promptFor(request, dialect);
  const { stream, maxOutputTokens, reasoningEffort } = settings;
  return {
    model: settings.model,
    stream,
    messages: turns.map((turn) => chatMessage(turn, toolNames(request).wireOf)),
    ...(format !== null && { response_format: chatFormat(format) }),
    ...(tools.length > 0 && { tools: tools.map(chatTool) }),
    ...(choice !== null && {
      tool_choice: typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } },
    }),
    ...(isOpenAI(settings.baseURL) && { store: false }),
    ...(stream && dialect.usage && { stream_options: { include_usage: true } }),
    ...(maxOutputTokens !== undefined && { [dialect.tokenLimit]: maxOutputTokens }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort as Effort }),
    ...commonParameters(settings),
  };
}

function chatMessage(
  { role, content, files = [], toolCalls, toolResult }: ChatTurn,
  wireOf: ToolNames['wireOf'],
): ChatCompletionMessageParam {
  if (role === 'tool') return { role, tool_call_id: toolResult?.id ?? '', content };
  if (role === 'assistant' && toolCalls !== undefined)
    return {
      role,
      content: content === '' ? null : content,
      tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
        id,
        type: 'function',
        function: { name: wireOf(name), arguments: args },
      })),
    };
  if (role !== 'user' || files.length === 0) return { role, content };
  const parts = files.map(
    (file): ChatCompletionContentPart =>
      isImage(file)
        ? { type: 'image_url', image_url: { url: dataUrl(file) } }
        : { type: 'file', file: { filename: fileName(file), file_data: dataUrl(file) } },
  );
  return { role, content: [...parts, { type: 'text', text: content }] };
}

function inputItems(
  { role, content, files = [], toolCalls = [], toolResult }: ChatTurn,
  wireOf: ToolNames['wireOf'],
): ResponseInputItem[] {
  if (role === 'tool') return [{ type: 'function_call_output', call_id: toolResult?.id ?? '', output: content }];
  const calls = toolCalls.map(
    ({ id, name, arguments: args }): ResponseInputItem => ({
      type: 'function_call',
      call_id: id,
      name: wireOf(name),
      arguments: args,
    }),
  );
  const message = calls.length > 0 && content === '' ? [] : [inputMessage({ role, content, files })];
  return [...message, ...calls];
}

function inputMessage({
  role,
  content,
  files,
}: {
  readonly role: Exclude<ChatTurn['role'], 'tool'>;
  readonly content: string;
  readonly files: readonly AttachedFile[];
}): EasyInputMessage {
  if (files.length === 0) return { role, content };
  const parts = files.map(
    (file): ResponseInputContent =>
      isImage(file)
        ? { type: 'input_image', image_url: dataUrl(file), detail: 'auto' }
        : { type: 'input_file', filename: fileName(file), file_data: dataUrl(file) },
  );
  return { role, content: [...parts, { type: 'input_text', text: content }] };
}

const isImage = ({ mediaType }: AttachedFile): boolean => mediaType.startsWith('image/');
const dataUrl = ({ mediaType, data }: AttachedFile): string => `data:${mediaType};base64,${data}`;

/** OpenAI requires a name, and reads the type of a file from it. */
const fileName = ({ name, mediaType }: AttachedFile): string => name ?? `file.${mediaType.split('/')[1]}`;

function chatFormat(format: NonNullable<Prompt['format']>): NonNullable<ChatBody['response_format']> {
  return format === 'json_object' ? { type: format } : { type: 'json_schema', json_schema: format };
}

function chatTool({ strict, ...tool }: ToolSchema): ChatCompletionTool {
  return { type: 'function', function: { ...tool, ...(strict && { strict }) } };
}

/** The Responses API by default stores replies and makes tools strict. */
export function responsesBody(request: ModelRequest, settings: OpenAISettings, dialect: Dialect): ResponsesBody {
  const { turns, format, tools, choice } = promptFor(request, dialect);
  const { stream, maxOutputTokens, reasoningEffort: effort, reasoningSummary: summary } = settings;
  return {
    model: settings.model,
    stream,
    store: false,
    input: turns.flatMap((turn) => inputItems(turn, toolNames(request).wireOf)),
    ...(format !== null && {
      text: { format: format === 'json_object' ? { type: format } : { type: 'json_schema', ...format } },
    }),
    ...(tools.length > 0 && { tools: tools.map((tool): FunctionTool => ({ type: 'function', ...tool })) }),
    ...(choice !== null && { tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...choice } }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...((effort !== undefined || summary !== undefined) && {
      reasoning: {
        ...(effort !== undefined && { effort: effort as Effort }),
        ...(summary !== undefined && { summary }),
      },
    }),
    ...commonParameters(settings),
  };
}

function commonParameters({ temperature, serviceTier, promptCacheKey }: OpenAISettings) {
  return {
    ...(temperature !== undefined && { temperature }),
    ...(serviceTier !== undefined && { service_tier: serviceTier as NonNullable<ChatBody['service_tier']> }),
    ...(promptCacheKey !== undefined && { prompt_cache_key: promptCacheKey }),
  };
}

/** The schema is a parameter of the request if the dialect has one, otherwise a part of the prompt. */
function promptFor(given: ModelRequest, dialect: Dialect): Prompt {
  const request = withBareTools(withoutNativeTools(given, dialect), dialect);
  return request.replyForm === 'tool-call' ? toolCallPrompt(request, dialect) : textPrompt(request, dialect);
}

function textPrompt(request: ModelRequest, dialect: Dialect): Prompt {
  const tools = offeredTools(request, dialect);
  return { ...formatPrompt(request, dialect), tools, choice: tools.length > 0 ? 'auto' : null };
}

function formatPrompt(request: ModelRequest, dialect: Dialect): Pick<Prompt, 'turns' | 'format'> {
  const { format } = dialect;
  if (request.replyForm === 'prose') return { turns: request.turns, format: null };
  if (format === 'text' || format === 'json_object')
    return { turns: withSchema(request), format: format === 'text' ? null : format };
  return { turns: withoutSchema(request.turns, request), format: replySchema(request, dialect) };
}

function withSchema({ turns, outputSchema }: ModelRequest): readonly ChatTurn[] {
  const isStated = turns.some(({ content }) => content.includes(JSON.stringify(outputSchema)));
  return isStated ? turns : withInstruction(turns, jsonInstruction(outputSchema));
}

/** Returns the turns without the schema, which is a parameter. If the server ignores it, the run requests the form `json-object` next. */
export function withoutSchema(
  turns: readonly ChatTurn[],
  { outputSchema }: Pick<ModelRequest, 'outputSchema'>,
): readonly ChatTurn[] {
  const text = ` ${schemaText(outputSchema)}`;
  return turns.map((turn) =>
    turn.role === 'system' ? { ...turn, content: turn.content.replace(text, () => '') } : turn,
  );
}

function replySchema(request: ModelRequest, dialect: Dialect): ReplySchema {
  const outputSchema = limitedSchema(request, dialect);
  const strict = dialect.format === 'strict_schema' ? strictSchema(outputSchema) : null;
  return {
    name: wireName(request.schemaName),
    schema: { ...(strict ?? sendableSchema(outputSchema)) },
    strict: strict !== null,
  };
}

const limitedSchema = ({ outputSchema }: ModelRequest, { scores }: Dialect): JsonNode =>
  scores === 'listed' ? withListedScores(outputSchema) : outputSchema;

/**
 * Requests the reply as the arguments of one tool call, in addition to the offered tools. If the server does not force the call, the prompt
 * asks for it.
 */
function toolCallPrompt(request: ModelRequest, dialect: Dialect): Prompt {
  const { reply: name } = toolNames(request);
  const offered = offeredTools(request, dialect);
  const tools = [replyTool(limitedSchema(request, dialect), name, dialect.replyTool), ...offered];
  const instruction = `Reply with one call of ${offered.length === 0 ? `the tool ${name}` : 'a tool'} and nothing else.`;
  const choice = offered.length === 0 ? dialect.toolChoice : dialect.anyChoice;
  const turns = dialect.replyTool === 'bare' ? withSchema(request) : request.turns;
  const isForced = choice === 'named' || choice === 'required';
  return {
    turns: isForced ? turns : withInstruction(turns, instruction),
    format: null,
    tools,
    choice: choice === 'named' ? { name } : choice === 'omitted' ? null : choice,
  };
}

function replyTool(outputSchema: JsonNode, name: string, level: ToolLevel): ToolSchema {
  const { description: own } = outputSchema;
  const description = typeof own === 'string' && own !== '' ? own : 'Returns the complete reply.';
  const strict = level === 'strict' ? strictSchema(outputSchema) : null;
  return { name, description, ...sentParameters(outputSchema, strict, level) };
}

function sentParameters(schema: JsonNode, strict: JsonNode | null, level: ToolLevel) {
  const plain = level === 'bare' ? BARE : sendableSchema(schema);
  return { parameters: { ...(strict ?? plain) }, strict: strict !== null };
}

/** Adds an instruction to the first system turn: many chat templates support only one. */
function withInstruction(turns: readonly ChatTurn[], instruction: string): ChatTurn[] {
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: instruction }, ...turns];
  return [{ role: 'system', content: `${first.content}\n\n${instruction}` }, ...rest];
}

/** Returns the request without tools if the dialect describes them in the prompt. */
function withoutNativeTools(request: ModelRequest, dialect: Dialect): ModelRequest {
  if (request.tools === undefined || offersTools(request, dialect)) return request;
  const { tools: _, turnsWithoutTools, ...others } = request;
  return { ...others, turns: turnsWithoutTools ?? request.turns };
}

function offeredTools(request: ModelRequest, dialect: Dialect): readonly ToolSchema[] {
  const { offered } = toolNames(request);
  return (request.tools ?? []).map((tool, at) => {
    const { name, description, parameters } = tool;
    const level = toolLevel(tool, dialect);
    const strict = level === 'strict' ? strictArguments(parameters) : null;
    return { name: offered[at] ?? name, description, ...sentParameters(parameters, strict, level) };
  });
}

/** Returns how the schema of an offered tool is sent. */
export function toolLevel({ parameters }: ToolOffer, { offers, tools }: Dialect): ToolLevel {
  const level = tools.get(schemaKey(parameters)) ?? (offers === 'strict' ? 'strict' : 'plain');
  return level === 'strict' && strictArguments(parameters) === null ? 'plain' : level;
}

/** Adds the schemas of tools that are sent without them to the prompt. */
function withBareTools(request: ModelRequest, { tools }: Dialect): ModelRequest {
  const text = bareToolText(request, toolNames(request), tools);
  return text === null ? request : { ...request, turns: withInstruction(request.turns, text) };
}

/**
 * Returns the strict schema of a tool, or null. Strict mode requires null for an omitted optional property, which the tool would not accept,
 * so a tool with optional properties is not strict.
 */
function strictArguments(schema: ToolOffer['parameters']): ToolOffer['parameters'] | null {
  return nullRemover(schema) === null ? strictSchema(schema) : null;
}

/** The names of a request's tools on the wire, which are unique. */
export interface ToolNames {
  readonly reply: string;
  readonly offered: readonly string[];
  /** Returns an unknown name as it is. */
  nameOf(wire: string): string;
  /** Returns the name of an offered tool on the wire; for any other tool, the name that it would have. */
  wireOf(name: string): string;
}

/** Keeps names that are valid on the wire. Of other names that become the same, the later ones get a number. */
export function toolNames({ schemaName, tools = [] }: Pick<ModelRequest, 'schemaName' | 'tools'>): ToolNames {
  const names = [schemaName, ...tools.map(({ name }) => name)];
  const byWire = new Map<string, string>();
  const wires = new Map<number, string>();
  const isPlain = (name: string): boolean => wireName(name) === name;
  for (const isPlainPass of [true, false]) {
    for (const [at, name] of names.entries()) {
      if (isPlain(name) !== isPlainPass) continue;
      const wire = freeName(wireName(name), byWire);
      byWire.set(wire, name);
      wires.set(at, wire);
    }
  }
  const [reply = '', ...offered] = names.map((name, at) => wires.get(at) ?? name);
  return {
    reply,
    offered,
    nameOf: (wire) => byWire.get(wire) ?? wire,
    wireOf: (name) => offered[tools.findIndex((tool) => tool.name === name)] ?? wireName(name),
  };
}
