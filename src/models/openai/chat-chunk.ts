import * as z from 'zod/mini';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import {
  type ChunkContent,
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
  uncheckedObject,
} from './reply-chunk.ts';

/** No real chunk has more choices. */
const MAX_CHOICES = 1_000;

/** Servers that implement the API of 2023 send only `function_call`. */
const deltaSchema = z.object({
  content: z.nullish(z.union([z.string(), uncheckedObject])),
  refusal: textOrEmpty,
  reasoning_content: textOrEmpty,
  reasoning: textOrEmpty,
  thinking: textOrEmpty,
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
        text: textOrEmpty,
        error: z.optional(z.unknown()),
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
    // Completions, the older API, have text in the choice.
    const content = delta
      ? contentOf(delta)
      : choice?.text
        ? contentOf(deltaSchema.parse({ content: choice.text }))
        : null;
    hasContent ||= content !== null && (content.text + content.reasoning !== '' || content.calls.length > 0);
    const error = chunk.error || choice?.error || errorIn(value as Readonly<Record<string, unknown>>);
    return {
      content,
      reason: choice?.finish_reason ? finishReason(choice.finish_reason) : null,
      usage: tokenUsage(chunk.usage ?? choice?.usage ?? null),
      error: error ? new ReportedError(error) : null,
    };
  };
}

/** Other members that contain an error: FastAPI (`detail`), vLLM and Mistral (`message`), GraphQL and Cloudflare (`errors`). */
function errorIn({ object, choices, usage, errors, ...value }: Readonly<Record<string, unknown>>): unknown {
  if (object === 'error') return value;
  if (choices !== undefined || usage !== undefined) return null;
  const [first] = Array.isArray(errors) ? errors : [errors];
  if (first) return first;
  const { detail, message, msg, code, status, type } = value;
  const text = detail ?? message ?? msg;
  const isNamed = [code, status, type].some((name) => name !== undefined && name !== null);
  if (typeof text === 'string') return isNamed ? { ...value, message: text } : text;
  return detail ? value : null;
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
function contentOf({ content, refusal, function_call: call, ...delta }: Delta): ChunkContent {
  const reasoning = delta.reasoning_content || delta.reasoning || delta.thinking;
  const isCall = !delta.tool_calls?.length && (call.name !== '' || (call.arguments ?? '') !== '');
  const calls = isCall ? [{ index: null, id: '', function: call }] : (delta.tool_calls ?? []);
  if (typeof content === 'string') return { text: content, reasoning, refusal, calls };
  const parts: readonly ContentPart[] = Array.isArray(content) ? content : [content];
  return { text: textIn(parts), reasoning: reasoning + parts.map(thinkingIn).join(''), refusal, calls };
}

/** A part of the content. It is not validated as a whole, because a hostile chunk may have millions of parts. */
type ContentPart = { readonly [Member in 'type' | 'text' | 'thinking']?: unknown } | null | undefined;

const TEXT_TYPES: ReadonlySet<unknown> = new Set(['text', 'output_text', undefined]);

function textIn(parts: readonly ContentPart[]): string {
  return parts.map((part) => (TEXT_TYPES.has(part?.type) && typeof part?.text === 'string' ? part.text : '')).join('');
}

function thinkingIn(part: ContentPart): string {
  if (part?.type !== 'thinking') return '';
  const { thinking } = part;
  if (Array.isArray(thinking)) return textIn(thinking);
  return typeof thinking === 'string' ? thinking : '';
}

/** Covers the wording of many servers: end of sequence, `end_turn`, `MAX_TOKENS` … */
const REASONS: readonly (readonly [RegExp, FinishReason])[] = [
  [/^(?:stop|stop_sequence|eos|eos_token|end_turn|end|completed?|done|finished)$/u, 'stop'],
  [/length|max_(?:output_|new_)?tokens/u, 'length'],
  [/^(?:tool_calls?|function_call|tool_use)$/u, 'tool-calls'],
  [/^content_filter$/u, 'content-filter'],
];

function finishReason(reason: string): FinishReason {
  const word = reason.slice(0, MAX_REASON_CHARS).toLowerCase();
  return REASONS.find(([pattern]) => pattern.test(word))?.[1] ?? 'other';
}

const MAX_REASON_CHARS = 40;
