import type OpenAI from 'openai';
import { z } from 'zod';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { type Chunk, parseChunk, type Said } from './chunk.ts';
import { lazyClient } from './client.ts';
import { countTokens, encodingOf } from './count-tokens.ts';
import { failure } from './failure.ts';
import { failureOf } from './failure-of.ts';
import { linkedSignal } from './linked-signal.ts';
import { negotiation } from './negotiation.ts';
import { type OpenAIModelOptions, type OpenAISettings, openaiSettings } from './options.ts';
import { ToolCalls } from './tool-calls.ts';
import { type ToolNames, toolNames } from './tool-names.ts';
import { toldOfTools } from './tool-refusal.ts';

export interface OpenAIModel extends ChatModel {
  /** A free look whether the key is refused, before a run starts: a failure for 401 and 403, null for all else. */
  checkKey(options: { readonly signal: AbortSignal }): Promise<Failure | null>;
  /**
   * By OpenAI's vocabulary for a model of this name; for a name of anybody else's, by OpenAI's newest, which is nearer than four
   * characters a token. A model with a tokenizer of its own: `{ ...openaiModel(options), countTokens }`.
   */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * A model behind OpenAI's chat completions: OpenAI, or any server that speaks the same (Ollama, llama.cpp, vLLM, OpenRouter …).
 *
 * 1. It keeps the port's failure contract: whatever goes wrong is one last part, and no message holds the key.
 * 2. One `stream` is one attempt: nothing is retried here. Only a server that refuses a way of asking (JSON schema, a
 *    forced tool call, tools beside a reply, usage) is asked again in a humbler way, and that is remembered.
 * 3. An abort, a `break` and the end all close the connection that is still open and leave no listener on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`, here and nowhere later.
 * @example
 * const model = openaiModel({ model: 'gpt-4o-mini' });
 * const local = openaiModel({ model: 'llama3.2', baseURL: 'http://localhost:11434/v1', contextWindowTokens: 8_192 });
 */
export function openaiModel(options: OpenAIModelOptions): OpenAIModel {
  const settings = openaiSettings(options);
  const client = lazyClient(settings);
  const send = negotiation(settings, client);

  return {
    id: `openai:${settings.model}`,
    contextWindowTokens: settings.contextWindowTokens,
    nativeTools: settings.nativeTools,
    checkKey: ({ signal }) => checkKey(settings, client, signal),
    countTokens: (texts) => countTokens(texts, encodingOf(settings.model)),
    async *stream(request, { signal: caller }): AsyncGenerator<ModelPart, void> {
      if (caller.aborted) return;
      const { signal, release } = linkedSignal(caller);
      const failureIn = (thrown: unknown): Failure => {
        const failure = failureOf(thrown, settings);
        return request.replyForm === 'tool-call' ? toldOfTools(failure) : failure;
      };
      try {
        for await (const part of replyParts(await send(request, signal), toolNames(request), failureIn)) {
          // The client's stream ends on an abort as if it were complete.
          if (caller.aborted) return;
          yield part;
        }
      } catch (thrown) {
        if (!caller.aborted) yield { type: 'failure', failure: failureIn(thrown) };
      } finally {
        release();
      }
    },
  };
}

/**
 * Asks for the model's name, which costs nothing, to learn whether the key is refused. Only a plain refusal (401, 403) is a
 * failure; a server without such a route, no network or an abort say nothing about the key and give null. So does a restricted
 * key that only may not list models.
 */
async function checkKey(
  settings: OpenAISettings,
  client: () => Promise<OpenAI>,
  caller: AbortSignal,
): Promise<Failure | null> {
  const { signal, release } = linkedSignal(caller);
  try {
    await (await client()).models.retrieve(settings.model, { signal });
    return null;
  } catch (thrown) {
    const failure = failureOf(thrown, settings);
    const restricted = /missing scopes|insufficient permissions/iu.test(failure.message);
    return failure.code === 'unauthorized' && !restricted ? failure : null;
  } finally {
    release();
  }
}

/** What is known of a reply so far. */
interface Progress {
  readonly calls: ToolCalls;
  count: number;
  refusal: string;
  reason: FinishReason | null;
  usage: TokenUsage | null;
}

/**
 * Chunks as the port's parts: deltas, then one `finish` or `failure`. What breaks before the finish reason is a failure by
 * `failureOf`; what breaks after it is none, as only the usage could still come. A call of a tool has the name that the tool has here,
 * however it was written for the server.
 */
async function* replyParts(
  chunks: AsyncIterable<unknown>,
  names: Pick<ToolNames, 'nameOf'>,
  failureOf: (thrown: unknown) => Failure,
): AsyncGenerator<ModelPart, void> {
  const calls = new ToolCalls(names);
  const progress: Progress = { calls, count: 0, refusal: '', reason: null, usage: null };
  try {
    for await (const data of chunks) yield* deltas(parseChunk(data), progress);
  } catch (thrown) {
    if (progress.reason === null) {
      yield failed(failureOf(thrown), progress);
      return;
    }
  }
  yield* progress.calls.rest();
  yield lastPart(progress);
}

function deltas(chunk: Chunk, progress: Progress): readonly ModelPart[] {
  const choice = chunk.choices?.[0];
  const said = choice?.delta ?? choice?.message;
  progress.count += 1;
  progress.usage = usageOf(chunk.usage ?? choice?.usage) ?? progress.usage;
  if (choice?.finish_reason) progress.reason = finishReason(choice.finish_reason);
  if (!said) return [];
  progress.refusal += said.refusal;
  const { text, reasoning } = spoken(said);
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning-delta', text: reasoning } as const]),
    ...(text === '' ? [] : [{ type: 'text-delta', text } as const]),
    ...progress.calls.read(said.tool_calls ?? []),
  ];
}

function lastPart(progress: Progress): ModelPart {
  const { count, refusal, reason, usage } = progress;
  if (count === 0) {
    const message = 'the reply held no chat completion; check that the base URL is the one of an OpenAI-compatible API';
    return failed(failure('garbled_reply', message, { retryable: true }), progress);
  }
  if (reason === null) {
    const message = 'the reply ended before it was finished';
    return failed(failure('stream_cut', message, { retryable: true }), progress);
  }
  if (refusal === '') return { type: 'finish', reason, usage };
  return failed(
    failure('refused', `the model refused: ${redactSecrets(refusal, [])}`, { stage: 'refinement' }),
    progress,
  );
}

function failed(failure: Failure, { usage }: Progress): ModelPart {
  return { type: 'failure', failure, ...(usage !== null && { usage }) };
}

function usageOf(usage: Chunk['usage']): TokenUsage | null {
  return usage ? { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, estimated: false } : null;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

function finishReason(theirs: string): FinishReason {
  return Object.hasOwn(REASONS, theirs) ? (REASONS[theirs] ?? 'other') : 'other';
}

const textPart = z.object({ type: z.literal('text'), text: z.string() });
const thinkingPart = z.object({ type: z.literal('thinking'), thinking: z.union([z.string(), z.array(z.unknown())]) });

/**
 * What one chunk says, and what it thinks aloud: in `reasoning_content` (DeepSeek, Qwen, xAI) or `reasoning` (Groq, OpenRouter),
 * of which vLLM sends both with the same text, or in a part of the content (Mistral). Parts of unknown types are ignored.
 */
function spoken(said: Said): { readonly text: string; readonly reasoning: string } {
  const aside = said.reasoning_content || said.reasoning;
  if (!Array.isArray(said.content)) return { text: said.content ?? '', reasoning: aside };
  return { text: textIn(said.content), reasoning: aside + said.content.map(thinkingIn).join('') };
}

function textIn(parts: readonly unknown[]): string {
  return parts.map((part) => textPart.safeParse(part).data?.text ?? '').join('');
}

function thinkingIn(part: unknown): string {
  const thinking = thinkingPart.safeParse(part).data?.thinking ?? '';
  return typeof thinking === 'string' ? thinking : textIn(thinking);
}
