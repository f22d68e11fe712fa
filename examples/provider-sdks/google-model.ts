import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai';
import { type ChatModel, type FinishReason, failureOf, type ModelPart, type ModelRequest } from 'postchain';

import type { ProviderOptions } from './anthropic-model.ts';

/** A model that calls Gemini with Google's own SDK. */
export function googleModel({ model, apiKey, baseURL }: ProviderOptions): ChatModel {
  // PostChain retries, so the client must not.
  const httpOptions = { retryOptions: { attempts: 1 }, ...(baseURL !== undefined && { baseUrl: baseURL }) };
  const client = new GoogleGenAI({ apiKey, httpOptions });
  return {
    id: `google:${model}`,
    contextWindowTokens: 1_000_000,
    accepts: ['image/*', 'application/pdf'],
    // Gemini does not accept tools together with a JSON schema, so the prompt describes them.
    nativeTools: false,
    async *stream(request, { signal }) {
      // The SDK does not close the connection when its stream is no longer read.
      const call = new AbortController();
      try {
        const config = { ...configOf(request), abortSignal: AbortSignal.any([signal, call.signal]) };
        const chunks = await client.models.generateContentStream({ model, contents: contentsOf(request), config });
        for await (const part of partsOf(chunks)) if (!signal.aborted) yield part;
      } catch (error) {
        if (!signal.aborted) yield { type: 'failure', failure: failureFrom(error, apiKey) };
      } finally {
        call.abort();
      }
    },
  };
}

function contentsOf({ turns }: ModelRequest): Content[] {
  return turns.flatMap(({ role, content, files = [] }) => {
    if (role === 'system') return [];
    const inline = files.map(({ mediaType, data }) => ({ inlineData: { mimeType: mediaType, data } }));
    return [{ role: role === 'user' ? 'user' : 'model', parts: [...inline, { text: content }] }];
  });
}

function configOf({ turns, schemaName, outputSchema, replyForm }: ModelRequest): GenerateContentConfig {
  const system = turns.flatMap(({ role, content }) => (role === 'system' ? [content] : []));
  if (replyForm === 'tool-call') {
    const reply = { name: schemaName, description: 'Returns the complete reply.', parametersJsonSchema: outputSchema };
    return {
      systemInstruction: system.join('\n\n'),
      tools: [{ functionDeclarations: [reply] }],
      toolConfig: {
        functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: [schemaName] },
      },
    };
  }
  if (replyForm === 'prose') return { systemInstruction: system.join('\n\n') };
  const instruction = `Reply with one JSON object that matches this JSON Schema:\n${JSON.stringify(outputSchema)}`;
  return {
    systemInstruction: (replyForm === 'text' ? system : [...system, instruction]).join('\n\n'),
    responseMimeType: 'application/json',
    ...(replyForm === 'text' && { responseJsonSchema: outputSchema }),
  };
}

async function* partsOf(chunks: AsyncIterable<GenerateContentResponse>): AsyncGenerator<ModelPart> {
  let calls = 0;
  for await (const { candidates: [candidate] = [], usageMetadata: usage, promptFeedback } of chunks) {
    for (const { text, thought, functionCall } of candidate?.content?.parts ?? []) {
      if (functionCall?.name !== undefined) {
        const { name, args = {} } = functionCall;
        yield { type: 'tool-call-delta', index: calls, name, arguments: JSON.stringify(args) };
        calls += 1;
      } else if (text) yield { type: thought === true ? 'reasoning-delta' : 'text-delta', text };
    }
    const reason = candidate?.finishReason ?? (promptFeedback?.blockReason === undefined ? undefined : 'SAFETY');
    if (reason === undefined) continue;
    // Google's output tokens exclude reasoning.
    const reasoningTokens = usage?.thoughtsTokenCount ?? 0;
    const tokens = usage && {
      inputTokens: usage.promptTokenCount ?? 0,
      cachedInputTokens: usage.cachedContentTokenCount ?? 0,
      outputTokens: (usage.candidatesTokenCount ?? 0) + reasoningTokens,
      reasoningTokens,
      estimated: false,
    };
    const isCall = reason === 'STOP' && calls > 0;
    yield { type: 'finish', reason: isCall ? 'tool-calls' : (REASONS[reason] ?? 'other'), usage: tokens ?? null };
    return;
  }
  yield { type: 'failure', failure: failureOf('transport', 'stream_cut', 'the reply ended before it was complete') };
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
};

function failureFrom(error: unknown, apiKey: string): ReturnType<typeof failureOf> {
  // A server may repeat the key, which must not enter a journal.
  const message = (error instanceof Error ? error.message : String(error)).replaceAll(apiKey, '[key]');
  if (error instanceof ApiError) {
    const { status } = error;
    const retryable = [408, 409, 429].includes(status) || status >= 500;
    // The SDK's errors have no headers; Google sends the delay in the body.
    const seconds = Number(/"retryDelay":\s*"([\d.]+)s"/u.exec(message)?.[1] ?? Number.NaN);
    return failureOf('transport', codeOf(status), `Google responded with ${status}: ${message}`, {
      status,
      retryable,
      retryAfterMs: retryable && Number.isFinite(seconds) ? seconds * 1_000 : null,
    });
  }
  if (/JSON/u.test(message)) return failureOf('transport', 'garbled_reply', `the reply is not valid: ${message}`);
  if (/fetch failed/u.test(message))
    return failureOf('transport', 'connection_failed', `cannot connect to Google: ${message}`);
  return failureOf('transport', 'stream_cut', `the connection was lost: ${message}`);
}

function codeOf(status: number): string {
  if (status >= 500) return 'server_error';
  if (status === 401 || status === 403) return 'unauthorized';
  return status === 429 ? 'rate_limited' : 'bad_request';
}
