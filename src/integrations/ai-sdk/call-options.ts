import type { AttachedFile } from '../../../machines/contracts/message.ts';
import type { ChatTurn, ModelRequest } from '../../../machines/contracts/model.ts';
import { jsonInstruction, schemaKey } from '../../internal/json-schema.ts';
import { wireName } from '../../internal/wire-name.ts';
import { type ToolNames, toolNames, withoutSchema } from '../../models/openai/request-body.ts';
import {
  BARE,
  bareToolText,
  describedSchema,
  offersTools,
  sendableSchema,
  type ToolLevels,
} from '../../models/openai/schema-rejections.ts';
import { strictSchema } from '../../models/openai/strict-schema.ts';
import type {
  AiSdkCallOptions,
  AiSdkFilePart,
  AiSdkJsonSchema,
  AiSdkLanguageModel,
  AiSdkMessage,
  AiSdkProviderOptions,
  AiSdkToolResultPart,
} from './language-model.ts';

/**
 * The features of the interface that a request uses. Not every provider implements all of them. `format`: how JSON in a text reply is
 * requested. `toolChoice`: whether the request or only the prompt requires a reply as a tool call. `replyTool`: whether that tool has the
 * schema, or only the prompt. `offers`: whether tools are offered natively or described in the prompt, and `tools` those that are sent in
 * another way.
 */
export interface UsedFeatures {
  readonly format: 'schema' | 'json' | 'text';
  readonly toolChoice: 'required' | 'prompt';
  readonly replyTool: 'plain' | 'bare';
  readonly offers: 'native' | 'prompt';
  readonly tools: ToolLevels;
}

export const ALL_FEATURES: UsedFeatures = {
  format: 'schema',
  toolChoice: 'required',
  replyTool: 'plain',
  offers: 'native',
  tools: new Map(),
};

/** If the schema is not sent, the prompt includes it unless it already does. */
export function callOptions(
  request: ModelRequest,
  features: UsedFeatures,
  model: Pick<AiSdkLanguageModel, 'specificationVersion' | 'provider'>,
): AiSdkCallOptions {
  const isOffering = offersTools(request, features);
  const tools = isOffering ? toolsOf(request, features, model) : [];
  const turns = (isOffering ? undefined : request.turnsWithoutTools) ?? request.turns;
  const bareTools = isOffering ? bareToolText(request, toolNames(request), features.tools) : null;
  const promptOf = (given: readonly ChatTurn[], ...instructions: readonly (string | null)[]) =>
    messagesOf(
      given,
      [bareTools, ...instructions].filter((one) => one !== null),
      { ...model, wireOf: toolNames(request).wireOf },
    );
  if (request.replyForm !== 'tool-call') {
    return {
      ...textOptions(request, turns, features, promptOf),
      ...(tools.length > 0 && { tools, toolChoice: { type: 'auto' } }),
    };
  }
  const { reply: toolName } = toolNames(request);
  const { description = 'Returns the complete reply.' } = request.outputSchema as { readonly description?: string };
  const reply = {
    type: 'function',
    name: toolName,
    description,
    inputSchema: features.replyTool === 'bare' ? { ...BARE } : sentSchema(request.outputSchema),
  } as const;
  const schema = features.replyTool === 'bare' ? jsonInstruction(request.outputSchema) : null;
  if (features.toolChoice === 'prompt') {
    const instruction = `Reply with one call of ${tools.length === 0 ? `the tool ${toolName}` : 'a tool'} and nothing else.`;
    return { prompt: promptOf(turns, schema, instruction), tools: [reply, ...tools], toolChoice: { type: 'auto' } };
  }
  return {
    prompt: promptOf(turns, schema),
    tools: [reply, ...tools],
    toolChoice: tools.length > 0 ? { type: 'required' } : { type: 'tool', toolName },
  };
}

function textOptions(
  request: ModelRequest,
  turns: readonly ChatTurn[],
  features: UsedFeatures,
  promptOf: (turns: readonly ChatTurn[], ...instructions: readonly (string | null)[]) => AiSdkMessage[],
): AiSdkCallOptions {
  const { outputSchema, schemaName, replyForm } = request;
  if (replyForm === 'prose') return { prompt: promptOf(turns) };
  const format = replyForm === 'json-object' && features.format === 'schema' ? 'json' : features.format;
  if (format === 'schema') {
    const responseFormat = { type: 'json', schema: sentSchema(outputSchema), name: wireName(schemaName) } as const;
    return { prompt: promptOf(withoutSchema(turns, request)), responseFormat };
  }
  const isStated = turns.some(({ content }) => content.includes(JSON.stringify(outputSchema)));
  const prompt = promptOf(turns, isStated ? null : jsonInstruction(outputSchema));
  return { prompt, ...(format === 'json' && { responseFormat: { type: 'json' } }) };
}

/** Strict schemas are accepted everywhere, and OpenAI's provider marks every schema as strict. */
function sentSchema(schema: ModelRequest['outputSchema']): AiSdkJsonSchema {
  return { ...(strictSchema(schema) ?? sendableSchema(schema)) };
}

/** Providers whose older versions drop ranges, lengths and patterns from the schema of a tool. */
const DROPS_KEYWORDS = /google|vertex/iu;

function toolsOf(
  request: ModelRequest,
  features: UsedFeatures,
  { provider }: Pick<AiSdkLanguageModel, 'provider'>,
): NonNullable<AiSdkCallOptions['tools']> {
  const { offered } = toolNames(request);
  const sendable = DROPS_KEYWORDS.test(provider) ? describedSchema : sendableSchema;
  return (request.tools ?? []).map(({ name, description, parameters }, at) => ({
    type: 'function',
    name: offered[at] ?? name,
    description,
    inputSchema: { ...(features.tools.get(schemaKey(parameters)) === 'bare' ? BARE : sendable(parameters)) },
  }));
}

/** The providers whose models cache a prompt only up to a marker. Others cache by themselves, and some would join the parts differently. */
const NEEDS_MARKERS = /anthropic|bedrock|openrouter/iu;

/** Each provider reads its own member. */
const CACHE_MARKER: AiSdkProviderOptions = {
  anthropic: { cacheControl: { type: 'ephemeral' } },
  openrouter: { cacheControl: { type: 'ephemeral' } },
  bedrock: { cachePoint: { type: 'default' } },
};

type MessageContext = Pick<AiSdkLanguageModel, 'specificationVersion' | 'provider'> & Pick<ToolNames, 'wireOf'>;

/** Several providers accept system messages only at the start, so all of them become the first one. */
function messagesOf(
  turns: readonly ChatTurn[],
  instructions: readonly string[],
  { specificationVersion: version, provider, wireOf }: MessageContext,
): AiSdkMessage[] {
  const isCached = NEEDS_MARKERS.test(provider) && turns.some(({ cachedChars }) => cachedChars !== undefined);
  const marker = isCached && { providerOptions: CACHE_MARKER };
  const system = turns.flatMap(({ role, content }) => (role === 'system' ? [content] : []));
  const parts = [...system, ...instructions];
  const messages = joinedResults(turns).flatMap(([turn, ...more]): AiSdkMessage[] => {
    const { role, content, files = [], cachedChars = 0, toolCalls } = turn;
    if (role === 'system') return [];
    if (role === 'tool') return [{ role, content: [turn, ...more].map((one) => toolResult(one, wireOf)) }];
    if (toolCalls !== undefined)
      return [
        {
          role: 'assistant',
          content: [
            ...(content === '' ? [] : [{ type: 'text', text: content } as const]),
            ...toolCalls.map(({ id, name, arguments: args }) => ({
              type: 'tool-call' as const,
              toolCallId: id,
              toolName: wireOf(name),
              input: JSON.parse(args) as unknown,
            })),
          ],
        },
      ];
    const at = isCached ? cachedChars : 0;
    const texts = [
      ...(at > 0 ? [{ type: 'text', text: content.slice(0, at), ...marker } as const] : []),
      { type: 'text', text: content.slice(at) } as const,
    ];
    return [
      role === 'user'
        ? { role, content: [...files.map((file) => filePart(file, version)), ...texts] }
        : { role, content: texts },
    ];
  });
  return parts.length === 0 ? messages : [{ role: 'system', content: parts.join('\n\n'), ...marker }, ...messages];
}

/** Groups the results of one assistant turn, because some providers require them in one message; other turns stay alone. */
function joinedResults(turns: readonly ChatTurn[]): readonly [ChatTurn, ...ChatTurn[]][] {
  const joined: [ChatTurn, ...ChatTurn[]][] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (turn.role === 'tool' && last?.[0].role === 'tool') last.push(turn);
    else joined.push([turn]);
  }
  return joined;
}

function toolResult({ content, toolResult: result }: ChatTurn, wireOf: ToolNames['wireOf']): AiSdkToolResultPart {
  return {
    type: 'tool-result',
    toolCallId: result?.id ?? '',
    toolName: wireOf(result?.name ?? ''),
    output: { type: result?.isError === true ? 'error-text' : 'text', value: content },
  };
}

function filePart(
  { mediaType, name, data }: AttachedFile,
  version: AiSdkLanguageModel['specificationVersion'],
): AiSdkFilePart {
  return {
    type: 'file',
    mediaType,
    ...(name !== null && { filename: name }),
    data: (version === 'v4' ? { type: 'data', data } : data) as never,
  };
}
