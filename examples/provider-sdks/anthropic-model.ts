import Anthropic from '@anthropic-ai/sdk';
import {
  type AttachedFile,
  type ChatModel,
  type ChatTurn,
  type FinishReason,
  failureOf,
  type ModelPart,
  type ModelRequest,
  type TokenUsage,
} from 'postchain';

export interface ProviderOptions {
  readonly model: string;
  readonly apiKey: string;
  readonly baseURL?: string;
}

/** A model that calls Claude with Anthropic's own SDK. */
export function anthropicModel({ model, ...settings }: ProviderOptions): ChatModel {
  // PostChain retries, so the client must not.
  const client = new Anthropic({ ...settings, maxRetries: 0 });
  return {
    id: `anthropic:${model}`,
    contextWindowTokens: 200_000,
    accepts: ['image/*', 'application/pdf'],
    nativeTools: true,
    async *stream(request, { signal }) {
      try {
        const events = await client.messages.create(bodyOf(request, model), { signal });
        for await (const part of partsOf(events)) if (!signal.aborted) yield part;
      } catch (error) {
        if (!signal.aborted) yield { type: 'failure', failure: failureFrom(error, settings.apiKey) };
      }
    },
  };
}

function bodyOf(request: ModelRequest, model: string): Anthropic.MessageCreateParamsStreaming {
  const { turns, tools = [], schemaName, outputSchema, replyForm } = request;
  const system = turns.flatMap(({ role, content }) => (role === 'system' ? [content] : []));
  const messages = turns.flatMap((turn): Anthropic.MessageParam[] =>
    turn.role === 'system' ? [] : [{ role: turn.role === 'assistant' ? turn.role : 'user', content: blocksOf(turn) }],
  );
  const toolOf = (name: string, description: string, schema: object): Anthropic.Tool => ({
    name,
    description,
    input_schema: { type: 'object', ...schema },
  });
  const offered = tools.map(({ name, description, parameters }) => toolOf(name, description, parameters));
  const body = { model, messages, max_tokens: 8_192, stream: true } as const;
  if (replyForm === 'tool-call') {
    return {
      ...body,
      system: system.join('\n\n'),
      tools: [toolOf(schemaName, 'Returns the complete reply.', outputSchema), ...offered],
      tool_choice: offered.length > 0 ? { type: 'any' } : { type: 'tool', name: schemaName },
    };
  }
  // Claude has no JSON mode without a schema, so the prompt asks for JSON.
  const asksInPrompt = replyForm === 'json-object';
  const instruction = `Reply with one JSON object that matches this JSON Schema:\n${JSON.stringify(outputSchema)}`;
  return {
    ...body,
    system: (asksInPrompt ? [...system, instruction] : system).join('\n\n'),
    ...(replyForm === 'text' && { output_config: { format: { type: 'json_schema', schema: { ...outputSchema } } } }),
    ...(offered.length > 0 && { tools: offered }),
  };
}

/** Anthropic joins consecutive messages of one role, so each tool result can be a separate message. */
function blocksOf({ content, files = [], toolCalls = [], toolResult }: ChatTurn): Anthropic.ContentBlockParam[] {
  if (toolResult !== undefined) {
    const { id, isError } = toolResult;
    return [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }];
  }
  const text: Anthropic.TextBlockParam[] = content === '' ? [] : [{ type: 'text', text: content }];
  const calls = toolCalls.map(({ id, name, arguments: args }): Anthropic.ToolUseBlockParam => {
    return { type: 'tool_use', id, name, input: JSON.parse(args) };
  });
  return [...files.map(fileBlock), ...text, ...calls];
}

function fileBlock({ mediaType, name, data }: AttachedFile): Anthropic.ContentBlockParam {
  if (mediaType === 'application/pdf')
    return { type: 'document', title: name, source: { type: 'base64', media_type: mediaType, data } };
  const media_type = mediaType as Anthropic.Base64ImageSource['media_type'];
  return { type: 'image', source: { type: 'base64', media_type, data } };
}

async function* partsOf(events: AsyncIterable<Anthropic.MessageStreamEvent>): AsyncGenerator<ModelPart> {
  const calls = new Map<number, { readonly index: number; readonly id: string; readonly name: string }>();
  let input: Pick<TokenUsage, 'inputTokens' | 'cachedInputTokens' | 'cacheWriteTokens'> = { inputTokens: 0 };
  for await (const event of events) {
    if (event.type === 'message_start') {
      // Anthropic's input tokens exclude those read from or written to the cache.
      const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens } = event.message.usage;
      const cachedInputTokens = cache_read_input_tokens ?? 0;
      const cacheWriteTokens = cache_creation_input_tokens ?? 0;
      const inputTokens = input_tokens + cachedInputTokens + cacheWriteTokens;
      input = { inputTokens, cachedInputTokens, ...(cacheWriteTokens > 0 && { cacheWriteTokens }) };
    } else if (event.type === 'content_block_start' && event.content_block.type === 'tool_use') {
      const { id, name } = event.content_block;
      const call = { index: calls.size, id, name };
      calls.set(event.index, call);
      yield { type: 'tool-call-delta', ...call, arguments: '' };
    } else if (event.type === 'content_block_delta') {
      const { delta } = event;
      const call = calls.get(event.index);
      if (delta.type === 'text_delta') yield { type: 'text-delta', text: delta.text };
      if (delta.type === 'thinking_delta') yield { type: 'reasoning-delta', text: delta.thinking };
      if (delta.type === 'input_json_delta' && call !== undefined)
        yield { type: 'tool-call-delta', ...call, arguments: delta.partial_json };
    } else if (event.type === 'message_delta' && event.delta.stop_reason !== null) {
      const usage = { ...input, outputTokens: event.usage.output_tokens, estimated: false };
      yield { type: 'finish', reason: REASONS[event.delta.stop_reason] ?? 'other', usage };
      return;
    }
  }
  yield { type: 'failure', failure: failureOf('transport', 'stream_cut', 'the reply ended before it was complete') };
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};

function failureFrom(error: unknown, apiKey: string): ReturnType<typeof failureOf> {
  if (error instanceof Anthropic.APIConnectionError) {
    return failureOf('transport', 'connection_failed', `cannot connect to Anthropic: ${error.message}`);
  }
  if (error instanceof Anthropic.APIError && error.status !== undefined) {
    const status: number = error.status;
    const headers: Headers | undefined = error.headers;
    const seconds = Number(headers?.get('retry-after') ?? Number.NaN);
    const retryable = [408, 409, 429].includes(status) || status >= 500;
    // A server may repeat the key, which must not enter a journal.
    const text = String(error.apiMessage).replaceAll(apiKey, '[key]');
    return failureOf('transport', codeOf(status), `Anthropic responded with ${status}: ${text}`, {
      status,
      retryable,
      retryAfterMs: retryable && Number.isFinite(seconds) ? seconds * 1_000 : null,
    });
  }
  if (error instanceof SyntaxError)
    return failureOf('transport', 'garbled_reply', `the reply is not valid: ${error.message}`);
  return failureOf('transport', 'stream_cut', `the connection was lost: ${String(error)}`);
}

function codeOf(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 429 ? 'rate_limited' : 'bad_request';
}
