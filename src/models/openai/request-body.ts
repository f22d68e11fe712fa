import type { ChatCompletionCreateParams, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ChatTurn, ModelRequest, ToolOffer } from '../../../machines/contracts/model.ts';
import { nullRemover } from '../../internal/json-schema.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';
import type { OpenAISettings } from './options.ts';
import { strictSchema } from './strict-schema.ts';

/** The features of OpenAI's API that a request uses. Many servers implement the API, few in full. Values are ordered from rich to poor. */
export interface Dialect {
  /** How the schema of a text reply is requested. */
  readonly format: 'strict_schema' | 'json_schema' | 'json_object' | 'text';
  /** How the call of the reply's tool is requested if no other tools are offered. */
  readonly toolChoice: 'named' | 'required' | 'auto' | 'omitted';
  /** Whether the schema of the reply's tool is strict. */
  readonly strictTool: boolean;
  /** How other tools are offered: with strict schemas, with plain schemas, or described in the prompt. */
  readonly offers: 'strict' | 'plain' | 'prompt';
  /** How a call is requested if other tools are offered, too. */
  readonly anyChoice: 'required' | 'auto' | 'omitted';
  /** Whether token counts are requested. */
  readonly usage: boolean;
  /** The parameter for the maximum length of a reply. */
  readonly tokenLimit: 'max_tokens' | 'max_completion_tokens';
}

type Body = ChatCompletionCreateParams;
type TextParameters = Pick<Body, 'messages' | 'response_format' | 'tools' | 'tool_choice'>;

/** Returns the JSON body of one call. If the dialect has no parameter for the schema, the prompt includes it unless it already does. */
export function requestBody(given: ModelRequest, settings: OpenAISettings, dialect: Dialect): Body {
  const request = withoutNativeTools(given, dialect);
  return {
    model: settings.model,
    stream: settings.stream,
    ...(request.replyForm === 'tool-call' ? toolParameters(request, dialect) : textParameters(request, dialect)),
    ...(settings.stream && dialect.usage && { stream_options: { include_usage: true } }),
    ...(settings.temperature !== null && { temperature: settings.temperature }),
    ...(settings.maxOutputTokens !== null && { [dialect.tokenLimit]: settings.maxOutputTokens }),
  };
}

function textParameters(request: ModelRequest, dialect: Dialect): TextParameters {
  const tools = offeredTools(request, dialect);
  return { ...formatParameters(request, dialect), ...(tools.length > 0 && { tools, tool_choice: 'auto' }) };
}

function formatParameters(request: ModelRequest, { format }: Dialect): Pick<Body, 'messages' | 'response_format'> {
  const schema = JSON.stringify(request.outputSchema);
  const instruction = `Reply with one JSON object and nothing else. It must match this JSON Schema:\n${schema}`;
  const isStated = request.turns.some(({ content }) => content.includes(schema));
  const messages = isStated ? [...request.turns] : withInstruction(request.turns, instruction);
  switch (format) {
    case 'strict_schema':
    case 'json_schema':
      return { messages: [...request.turns], response_format: jsonSchema(request, format === 'strict_schema') };
    case 'json_object':
      return { messages, response_format: { type: 'json_object' } };
    case 'text':
      return { messages };
    default: {
      const never: never = format;
      return never;
    }
  }
}

function jsonSchema(request: ModelRequest, wantsStrict: boolean): NonNullable<Body['response_format']> {
  const strict = wantsStrict ? strictSchema(request.outputSchema) : null;
  const schema = { ...(strict ?? request.outputSchema) };
  return {
    type: 'json_schema',
    json_schema: { name: wireName(request.schemaName), schema, strict: strict !== null },
  };
}

type ToolParameters = Pick<Body, 'messages' | 'tools' | 'tool_choice'>;

/**
 * Requests the reply as the arguments of one tool call, in addition to the offered tools. If the server does not force the call, the prompt
 * asks for it. `parallel_tool_calls` is never sent, because reasoning models and many servers reject it.
 */
function toolParameters(request: ModelRequest, dialect: Dialect): ToolParameters {
  const { reply: name } = toolNames(request);
  const offered = offeredTools(request, dialect);
  const tools = [replyTool(request, name, dialect.strictTool), ...offered];
  const messages = [...request.turns];
  const instruction = `Reply with one call of ${offered.length === 0 ? `the tool ${name}` : 'a tool'} and nothing else.`;
  const choice = offered.length === 0 ? dialect.toolChoice : dialect.anyChoice;
  switch (choice) {
    case 'named':
      return { messages, tools, tool_choice: { type: 'function', function: { name } } };
    case 'required':
      return { messages, tools, tool_choice: 'required' };
    case 'auto':
      return { messages: withInstruction(messages, instruction), tools, tool_choice: 'auto' };
    case 'omitted':
      return { messages: withInstruction(messages, instruction), tools };
    default: {
      const never: never = choice;
      return never;
    }
  }
}

function replyTool({ outputSchema }: ModelRequest, name: string, wantsStrict: boolean): ChatCompletionTool {
  const strict = wantsStrict ? strictSchema(outputSchema) : null;
  const { description: own } = outputSchema;
  const description = typeof own === 'string' && own !== '' ? own : 'Returns the complete reply.';
  const parameters = { ...(strict ?? outputSchema) };
  return { type: 'function', function: { name, description, parameters, ...(strict !== null && { strict: true }) } };
}

/** Adds an instruction to the first system turn: many chat templates support only one. */
function withInstruction(turns: readonly ChatTurn[], instruction: string): ChatTurn[] {
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: instruction }, ...turns];
  return [{ role: 'system', content: `${first.content}\n\n${instruction}` }, ...rest];
}

/** Returns the request without tools if the dialect describes them in the prompt. */
function withoutNativeTools(request: ModelRequest, { offers }: Dialect): ModelRequest {
  if (request.tools === undefined || offers !== 'prompt') return request;
  const { tools: _, turnsWithoutTools, ...others } = request;
  return { ...others, turns: turnsWithoutTools ?? request.turns };
}

function offeredTools(request: ModelRequest, { offers }: Dialect): ChatCompletionTool[] {
  const { offered } = toolNames(request);
  return (request.tools ?? []).map((tool, at) => offeredTool(tool, offered[at] ?? tool.name, offers === 'strict'));
}

function offeredTool(
  { description, parameters: schema }: ToolOffer,
  name: string,
  wantsStrict: boolean,
): ChatCompletionTool {
  const strict = wantsStrict ? strictArguments(schema) : null;
  const parameters = { ...(strict ?? schema) };
  return { type: 'function', function: { name, description, parameters, ...(strict !== null && { strict: true }) } };
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
  /** The tool of the reply. */
  readonly reply: string;
  /** The offered tools, in order. */
  readonly offered: readonly string[];
  /** Returns the original name of a tool. An unknown name is returned as it is. */
  nameOf(wire: string): string;
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
  return { reply, offered, nameOf: (wire) => byWire.get(wire) ?? wire };
}
