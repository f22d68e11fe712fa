import type { ChatCompletionCreateParamsStreaming, ChatCompletionTool } from 'openai/resources/chat/completions';
import type { ChatTurn, ModelRequest, ToolOffer } from '../../../machines/contracts/model.ts';
import { admitsNull, isJsonNode, type JsonNode, nullRemover, onlyAlternative } from '../../internal/json-schema.ts';
import { wireName } from '../../internal/wire-name.ts';
import type { Dialect } from './dialect.ts';
import type { OpenAISettings } from './options.ts';
import { toolNames } from './tool-names.ts';

type Body = ChatCompletionCreateParamsStreaming;
type TextParameters = Pick<Body, 'messages' | 'response_format' | 'tools' | 'tool_choice'>;

/** The JSON body of one call. A server that takes no schema as a parameter gets it in words, if the turns do not say it already. */
export function requestBody(asked: ModelRequest, settings: OpenAISettings, dialect: Dialect): Body {
  const request = asOffered(asked, dialect);
  return {
    model: settings.model,
    stream: true,
    ...(request.replyForm === 'tool-call' ? toolParameters(request, dialect) : textParameters(request, dialect)),
    ...(dialect.usage && { stream_options: { include_usage: true } }),
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
  const words = `Reply with one JSON object and nothing else. It must fit this JSON Schema:\n${schema}`;
  const told = isTold(request.turns, schema) ? [...request.turns] : withWords(request.turns, words);
  switch (format) {
    case 'strict_schema':
    case 'json_schema':
      return { messages: [...request.turns], response_format: jsonSchema(request, format === 'strict_schema') };
    case 'json_object':
      return { messages: told, response_format: { type: 'json_object' } };
    case 'text':
      return { messages: told };
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

type Parameters = Pick<ChatCompletionCreateParamsStreaming, 'messages' | 'tools' | 'tool_choice'>;

/**
 * A reply as the arguments of one call of one tool [A12], beside the tools that are offered. `parallel_tool_calls` is never sent:
 * reasoning models and many servers refuse it. Where the server does not force the call, words ask for it.
 */
function toolParameters(request: ModelRequest, dialect: Dialect): Parameters {
  const { reply: name } = toolNames(request);
  const offered = offeredTools(request, dialect);
  const tools = [tool(request, name, dialect.strictTool), ...offered];
  const messages = [...request.turns];
  const words = `Reply by one call of ${offered.length === 0 ? `the tool ${name}` : 'a tool'} and nothing else.`;
  const choice = offered.length === 0 ? dialect.toolChoice : dialect.anyChoice;
  switch (choice) {
    case 'named':
      return { messages, tools, tool_choice: { type: 'function', function: { name } } };
    case 'required':
      return { messages, tools, tool_choice: 'required' };
    case 'auto':
      return { messages: withWords(messages, words), tools, tool_choice: 'auto' };
    case 'unsaid':
      return { messages: withWords(messages, words), tools };
    default: {
      const never: never = choice;
      return never;
    }
  }
}

function tool({ outputSchema }: ModelRequest, name: string, wantsStrict: boolean): ChatCompletionTool {
  const strict = wantsStrict ? strictSchema(outputSchema) : null;
  const told = outputSchema['description'];
  const description = typeof told === 'string' && told !== '' ? told : 'Gives the reply, whole.';
  const parameters = { ...(strict ?? outputSchema) };
  return { type: 'function', function: { name, description, parameters, ...(strict !== null && { strict: true }) } };
}

/** Whether a text stands in one of the turns already. */
function isTold(turns: readonly ChatTurn[], text: string): boolean {
  return turns.some(({ content }) => content.includes(text));
}

/** The turns and these words: in the first system turn, as many chat templates take only one. */
function withWords(turns: readonly ChatTurn[], words: string): ChatTurn[] {
  const [first, ...rest] = turns;
  if (first?.role !== 'system') return [{ role: 'system', content: words }, ...turns];
  return [{ role: 'system', content: `${first.content}\n\n${words}` }, ...rest];
}

/** The request as a dialect asks it: where tools are told in words, without any. */
function asOffered(request: ModelRequest, { offers }: Dialect): ModelRequest {
  if (request.tools === undefined || offers !== 'words') return request;
  const { tools: _, turnsWithoutTools, ...others } = request;
  return { ...others, turns: turnsWithoutTools ?? request.turns };
}

/** The tools offered beside the reply, as the server takes them. */
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
 * Strict mode wants every member, and null for one that is left out; whoever runs the tool takes no such null. So a tool with a member
 * that may be left out is not asked for strictly.
 */
function strictArguments(schema: ToolOffer['parameters']): ToolOffer['parameters'] | null {
  return nullRemover(schema) === null ? strictSchema(schema) : null;
}

/** Kept as they are: OpenAI's strict mode knows them. */
const KEPT = ['type', 'title', 'description', 'enum', 'const', '$ref', 'multipleOf', 'minimum', 'maximum'];
const ALSO_KEPT = ['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'required', 'additionalProperties'];
const PLAIN = new Set([...KEPT, ...ALSO_KEPT]);

/** Strict mode knows one word where JSON Schema has several. */
const RENAMED: Readonly<Record<string, string>> = { oneOf: 'anyOf', definitions: '$defs' };

/** Left out: they only narrow or describe, strict mode refuses some of them, and every reply is validated anyway [promise 4]. */
const NARROWING = ['minLength', 'maxLength', 'pattern', 'format', 'uniqueItems'];
const LEFT_OUT = new Set([...NARROWING, '$schema', '$id', '$comment', 'default', 'examples', 'deprecated', 'readOnly']);

/**
 * The schema as OpenAI's strict mode takes it, or null when it cannot: every object must be closed (`additionalProperties: false`)
 * with every property required, the root must be an object, and no keyword may be outside the supported ones
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
 *
 * 1. An object with properties that says nothing of more is closed, as that only narrows; one without any would take nothing more at
 * all, so it stays open. 2. A property that may be left out is asked for as one that may be null, which `nullRemover` takes back
 * when the reply is read; not within a choice or a definition, where that does not look. 3. `oneOf` becomes `anyOf`: every reply is
 * validated anyway.
 */
export function strictSchema(schema: JsonNode): JsonNode | null {
  return schema['type'] === 'object' && choicesOf(schema).length === 0 ? strictNode(schema, true) : null;
}

function strictNode(node: unknown, mayBeNull: boolean): JsonNode | null {
  if (!isJsonNode(node) || !isTyped(node) || !isClosable(node, mayBeNull)) return null;
  if (node['$ref'] !== undefined) return strictReference(node);
  const inside = mayBeNull && onlyAlternative(node) !== null;
  const strict: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (LEFT_OUT.has(keyword)) continue;
    const kept = PLAIN.has(keyword) ? value : strictChild(node, keyword, inside);
    if (kept === null) return null;
    strict[RENAMED[keyword] ?? keyword] = kept;
  }
  if (!isObject(node)) return strict;
  return { ...strict, required: namesIn(node), additionalProperties: false };
}

function strictChild(node: JsonNode, keyword: string, mayBeNull: boolean): unknown {
  const value = node[keyword];
  if (keyword === 'items') return strictNode(value, mayBeNull);
  if (keyword === 'anyOf' || keyword === 'oneOf')
    return Array.isArray(value) ? allOrNull(value.map((one) => strictNode(one, mayBeNull))) : null;
  if (keyword === 'properties') return strictMembers(value, (one, name) => strictProperty(node, name, one, mayBeNull));
  return keyword === '$defs' || keyword === 'definitions' ? strictMembers(value, strictDefinition) : null;
}

/** References reach the root and its definitions, and have nothing beside them. */
function strictReference({ $ref }: JsonNode): JsonNode | null {
  const [, name] = /^#(?:\/(?:\$defs|definitions)\/([^/]+))?$/u.exec(String($ref)) ?? [];
  if (name !== undefined) return { $ref: `#/$defs/${name}` };
  return $ref === '#' ? { $ref } : null;
}

function strictProperty({ required }: JsonNode, name: string, property: unknown, mayBeNull: boolean): JsonNode | null {
  const strict = strictNode(property, mayBeNull);
  const isRequired = Array.isArray(required) && required.includes(name);
  return strict === null || isRequired || admitsNull(property) ? strict : { anyOf: [strict, { type: 'null' }] };
}

function strictMembers(value: unknown, strictOne: (node: unknown, name: string) => JsonNode | null): JsonNode | null {
  if (!isJsonNode(value)) return null;
  const names = Object.keys(value);
  const nodes = allOrNull(names.map((name) => strictOne(value[name], name)));
  return nodes === null ? null : Object.fromEntries(names.map((name, index) => [name, nodes[index]]));
}

/** A schema, or a group of more definitions. */
function strictDefinition(node: unknown): JsonNode | null {
  if (!isJsonNode(node) || Object.keys(node).join() !== '$defs') return strictNode(node, false);
  const definitions = strictMembers(node['$defs'], strictDefinition);
  return definitions === null ? null : { $defs: definitions };
}

function isTyped(node: JsonNode): boolean {
  if (typesOf(node).includes('array') && !isJsonNode(node['items'])) return false;
  return ['type', 'enum', 'const', 'anyOf', 'oneOf', '$ref'].some((keyword) => keyword in node);
}

/** Whether an object takes no more than its properties, or can be made so. */
function isClosable(node: JsonNode, mayBeNull: boolean): boolean {
  if (!isObject(node)) return true;
  const { required = [], additionalProperties = namesIn(node).length === 0 } = node;
  if (additionalProperties !== false || !Array.isArray(required)) return false;
  const names = namesIn(node);
  return (
    required.every((name) => names.includes(name)) && (mayBeNull || names.every((name) => required.includes(name)))
  );
}

function namesIn({ properties }: JsonNode): readonly string[] {
  return isJsonNode(properties) ? Object.keys(properties) : [];
}

function isObject(node: JsonNode): boolean {
  return typesOf(node).includes('object') || node['properties'] !== undefined;
}

function typesOf({ type }: JsonNode): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

function choicesOf({ anyOf, oneOf }: JsonNode): readonly unknown[] {
  return [anyOf, oneOf].filter((choice) => choice !== undefined);
}

function allOrNull(nodes: readonly (JsonNode | null)[]): readonly JsonNode[] | null {
  return nodes.every((node) => node !== null) ? nodes : null;
}
