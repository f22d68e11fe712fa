import * as z from 'zod/mini';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import {
  type Content,
  countOrNull,
  functionOrEmpty,
  MAX_CALLS,
  orNull,
  type ReplyChunk,
  type ReplyReader,
  ReportedError,
  textOrEmpty,
  tokenUsage,
  toolCallSchema,
  uncheckedList,
} from './reply-chunk.ts';

/** No real chunk has more choices. */
const MAX_CHOICES = 1_000;

/** Servers that implement the API of 2023 send only `function_call`. */
const deltaSchema = z.object({
  content: z.nullish(z.union([z.string(), uncheckedList])),
  refusal: textOrEmpty,
  reasoning_content: textOrEmpty,
  reasoning: textOrEmpty,
  tool_calls: z.pipe(
    z.transform((calls) => firstOf(calls, MAX_CALLS)),
    orNull(z.array(toolCallSchema)),
  ),
  function_call: functionOrEmpty,
});
type Delta = z.infer<typeof deltaSchema>;

/**
 * Cached tokens are in the details, directly in the usage (Moonshot), or called cache hits (DeepSeek); those written to the cache are in
 * the details (OpenRouter), or have Anthropic's name (LiteLLM). xAI counts reasoning in the total, but not in the completion.
 */
const usageSchema = orNull(
  z.pipe(
    z.object({
      prompt_tokens: z.int().check(z.gte(0)),
      completion_tokens: z.int().check(z.gte(0)),
      total_tokens: countOrNull,
      prompt_tokens_details: orNull(
        z.object({
          cached_tokens: countOrNull,
          cache_write_tokens: countOrNull,
          cache_creation_tokens: countOrNull,
        }),
      ),
      completion_tokens_details: orNull(z.object({ reasoning_tokens: countOrNull })),
      cached_tokens: countOrNull,
      prompt_cache_hit_tokens: countOrNull,
      cache_creation_input_tokens: countOrNull,
    }),
    z.transform(({ prompt_tokens: input, completion_tokens: completion, ...usage }) => {
      const reasoning = usage.completion_tokens_details?.reasoning_tokens;
      const isReasoningExtra = usage.total_tokens === input + completion + (reasoning ?? 0);
      return {
        input,
        output: isReasoningExtra ? completion + (reasoning ?? 0) : completion,
        cached: usage.prompt_tokens_details?.cached_tokens ?? usage.cached_tokens ?? usage.prompt_cache_hit_tokens,
        written:
          usage.prompt_tokens_details?.cache_write_tokens ??
          usage.prompt_tokens_details?.cache_creation_tokens ??
          usage.cache_creation_input_tokens,
        reasoning,
      };
    }),
  ),
);

/**
 * The members of a `chat.completion.chunk` that are read. A server that does not stream sends one `chat.completion` with `message` instead
 * of `delta`. Incomplete usage counts as missing; some servers (Moonshot) put it into the choice. Only content of an unknown type is an
 * error, because it would be lost.
 */
const chunkSchema = z.object({
  object: z.optional(z.unknown()),
  error: z.optional(z.unknown()),
  choices: z.pipe(
    z.transform(ownChoice),
    z.nullish(
      z.object({
        delta: z.nullish(deltaSchema),
        message: z.nullish(deltaSchema),
        finish_reason: textOrEmpty,
        usage: usageSchema,
      }),
    ),
  ),
  usage: usageSchema,
});

/** A whole `message` counts only if nothing came before it. */
export function chatReader(): ReplyReader {
  let hasContent = false;
  return (value): ReplyChunk => {
    const { choices: choice, ...chunk } = chunkSchema.parse(value);
    const delta = choice?.delta ?? (hasContent ? null : choice?.message);
    const content = delta ? contentOf(delta) : null;
    hasContent ||= content !== null && (content.text + content.reasoning !== '' || content.calls.length > 0);
    const error = chunk.error || (chunk.object === 'error' ? value : null);
    return {
      content,
      reason: choice?.finish_reason ? finishReason(choice.finish_reason) : null,
      usage: tokenUsage(chunk.usage ?? choice?.usage ?? null),
      error: error ? new ReportedError(error) : null,
    };
  };
}

function firstOf(values: unknown, most: number): unknown {
  return Array.isArray(values) ? values.slice(0, most) : values;
}

/** Some servers send several choices although one is requested. */
function ownChoice(choices: unknown): unknown {
  if (!Array.isArray(choices)) return choices;
  const isOwn = (choice: unknown): boolean => choice !== null && ((choice as { index?: unknown }).index ?? 0) === 0;
  return choices.slice(0, MAX_CHOICES).find(isOwn);
}

/**
 * Reasoning is in `reasoning_content` (DeepSeek, Qwen, xAI), in `reasoning` (Groq, OpenRouter), in both (vLLM), or in a part of the content
 * (Mistral). Parts of unknown types are ignored.
 */
function contentOf({ content, refusal, function_call: call, ...delta }: Delta): Content {
  const reasoning = delta.reasoning_content || delta.reasoning;
  const isCall = !delta.tool_calls?.length && (call.name !== '' || (call.arguments ?? '') !== '');
  const calls = isCall ? [{ index: null, id: '', function: call }] : (delta.tool_calls ?? []);
  if (!Array.isArray(content)) return { text: typeof content === 'string' ? content : '', reasoning, refusal, calls };
  return { text: textIn(content), reasoning: reasoning + content.map(thinkingIn).join(''), refusal, calls };
}

/** A part of the content. It is not validated as a whole, because a hostile chunk may have millions of parts. */
type ContentPart = { readonly [Member in 'type' | 'text' | 'thinking']?: unknown } | null;

function textIn(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part?.type === 'text' && typeof part.text === 'string' ? part.text : '')).join('');
}

function thinkingIn(part: ContentPart): string {
  if (part?.type !== 'thinking') return '';
  const { thinking } = part;
  if (Array.isArray(thinking)) return textIn(thinking);
  return typeof thinking === 'string' ? thinking : '';
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

function finishReason(reason: string): FinishReason {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? 'other') : 'other';
}
