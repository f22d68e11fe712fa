import type OpenAI from 'openai';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { clippedLine } from '../../../machines/text/clip.ts';
import { linkSignals } from '../../internal/async.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { chatReader } from './chat-chunk.ts';
import { lazyClient } from './client.ts';
import { countTokens, encodingOf } from './count-tokens.ts';
import { CUT, failedPart, failure, openAIFailure } from './failures.ts';
import { Increments } from './increments.ts';
import { negotiateDialect } from './negotiation.ts';
import { type OpenAIModelOptions, type OpenAISettings, openaiSettings } from './options.ts';
import { END_GRACE_MS, type ReplyBody } from './reply-body.ts';
import type { ReplyChunk, ReplyReader } from './reply-chunk.ts';
import { replyStream } from './reply-stream.ts';
import { type ToolNames, toolNames } from './request-body.ts';
import { responsesReader } from './response-event.ts';
import { ToolCalls } from './tool-calls.ts';

/** Whether a value is an event of the Responses API, or a whole response. A chat completion has no `type`. */
function isResponseEvent(value: unknown): boolean {
  const { type, object } = (value ?? {}) as { type?: unknown; object?: unknown };
  return object === 'response' || (typeof type === 'string' && /^(response\.|error$)/u.test(type));
}

export interface OpenAIModel extends ChatModel {
  /** Checks before a run, at no cost, whether the server rejects the key. Resolves to a failure for 401 and 403, otherwise null. */
  checkKey(options: { readonly signal: AbortSignal }): Promise<Failure | null>;
  /**
   * Counts tokens with OpenAI's encoding for this model, or its newest encoding for other vendors' models, which is more accurate than
   * four characters per token. Requires the package `gpt-tokenizer`. To use another tokenizer: `{ ...openaiModel(options), countTokens }`.
   */
  countTokens(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * Returns a model for OpenAI's chat completions API or its Responses API (`api`): OpenAI, or any compatible server (Ollama, llama.cpp,
 * vLLM, OpenRouter …).
 *
 * 1. Any error becomes the last part of the stream, a `failure`. No message contains the key.
 * 2. One `stream` is one attempt without retries. Only if the server rejects a feature (JSON schema, a forced tool call, tools in addition
 *    to a reply, usage, chat completions for this model), the request is repeated without it, and that is remembered.
 * 3. An abort, a `break` and the end of the stream close the connection and leave no listener on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`
 * @example
 * const model = openaiModel({ model: 'gpt-4o-mini' });
 * const reasoning = openaiModel({ model: 'gpt-5-mini', api: 'responses', reasoningEffort: 'low' });
 * const local = openaiModel({ model: 'llama3.2', baseURL: 'http://localhost:11434/v1', contextWindowTokens: 8_192 });
 */
export function openaiModel(options: OpenAIModelOptions): OpenAIModel {
  const settings = openaiSettings(options);
  const client = lazyClient(settings);
  const { send, learn } = negotiateDialect(settings, client);

  return {
    id: `openai:${settings.model}`,
    contextWindowTokens: settings.contextWindowTokens,
    maxOutputTokens: settings.maxOutputTokens,
    accepts: settings.accepts,
    nativeTools: settings.nativeTools,
    checkKey(options) {
      requireKnownOptions('checkKey', options, 'signal');
      return checkKey(settings, client, options.signal);
    },
    countTokens: (texts) => countTokens(texts, encodingOf(settings.model)),
    stream: (request, { signal: caller }) =>
      replyStream(
        request,
        caller,
        (thrown) => openAIFailure(thrown, settings),
        async function* (signal, failureIn) {
          let [json, hasCall] = ['', false];
          for await (const part of replyParts(await send(request, signal), toolNames(request), failureIn)) {
            if (part.type === 'text-delta') json += part.text;
            else if (part.type === 'tool-call-delta') [json, hasCall] = [json + part.arguments, true];
            else if (part.type === 'finish') learn(request, { json, hasCall });
            yield part;
          }
        },
      ),
  };
}

/**
 * Requests the model's description, which is free, and returns a failure if the server rejects the key (401, 403). Returns null otherwise,
 * because nothing else is evidence against the key: a server without this endpoint, a missing network, an abort, or a restricted key that
 * may not list models.
 */
async function checkKey(
  settings: OpenAISettings,
  client: () => Promise<OpenAI>,
  caller: AbortSignal,
): Promise<Failure | null> {
  const { signal, abort, forget } = linkSignals(caller);
  try {
    await (await client()).models.retrieve(settings.model, { signal });
    return null;
  } catch (thrown) {
    const failure = openAIFailure(thrown, settings);
    const restricted = /missing scopes|insufficient permissions/iu.test(failure.message);
    return failure.code === 'unauthorized' && !restricted ? failure : null;
  } finally {
    forget();
    abort();
  }
}

/** Each value decides which API it is from: some gateways translate a request to the other API. */
function replyReader(): ReplyReader {
  const readers = { chat: chatReader(), responses: responsesReader() };
  return (value) => (isResponseEvent(value) ? readers.responses : readers.chat)(value);
}

/** The state of a reply. `usageAt`: the first chunk with usage, counted from 1. `hasContent`: it had text, reasoning or a tool call. */
interface Progress {
  readonly calls: ToolCalls;
  readonly text: Increments;
  readonly reasoning: Increments;
  count: number;
  usageAt: number;
  hasContent: boolean;
  refusal: string;
  reason: FinishReason | null;
  usage: TokenUsage | null;
}

/** How long a reply with a finish reason waits for its usage, or for more text: some servers send a finish reason with every chunk. */
const USAGE_GRACE_MS = 500;

/**
 * Converts chunks to model parts: deltas, then one `finish` or `failure`. A finish reason or `[DONE]` makes a reply whole: an error after
 * it is ignored, and the connection need not end. Tool calls have the original names of their tools.
 */
async function* replyParts(
  body: ReplyBody,
  names: ToolNames,
  failureOf: (thrown: unknown) => Failure,
): AsyncGenerator<ModelPart, void> {
  const read = replyReader();
  const progress: Progress = {
    calls: new ToolCalls(names),
    text: new Increments(),
    reasoning: new Increments(),
    count: 0,
    usageAt: 0,
    hasContent: false,
    refusal: '',
    reason: null,
    usage: null,
  };
  try {
    for await (const data of body) {
      const { reason, usage } = progress;
      const parts = deltas(read(data), progress);
      yield* parts;
      const isNews = parts.length > 0 || reason === null || usage === null;
      if (progress.reason !== null && isNews) body.endWithin(progress.usage === null ? USAGE_GRACE_MS : END_GRACE_MS);
    }
  } catch (thrown) {
    if (progress.reason === null) {
      yield failedPart(failureOf(thrown), progress.usage);
      return;
    }
  }
  yield* partsOf(progress.reasoning.rest(), progress.text.rest(), progress.calls.rest());
  yield lastPart(progress, body);
}

/** A refusal is quoted only in part. */
const MAX_REFUSAL_CHARS = 10_000;

function deltas({ content, reason, usage, error }: ReplyChunk, progress: Progress): readonly ModelPart[] {
  progress.count += 1;
  progress.usage = usage ?? progress.usage;
  if (progress.usage !== null) progress.usageAt ||= progress.count;
  if (error !== null) throw error;
  progress.reason = reason ?? progress.reason;
  if (content === null) return [];
  const { text, reasoning, refusal, calls } = content;
  if (progress.refusal.length < MAX_REFUSAL_CHARS) progress.refusal += refusal;
  // What precedes a call is complete.
  const before = calls.length > 0 ? progress.text.rest() : '';
  const parts = partsOf(
    progress.reasoning.read(reasoning),
    before + progress.text.read(text),
    progress.calls.read(calls),
  );
  progress.hasContent ||= parts.length > 0;
  return parts;
}

function partsOf(reasoning: string, text: string, calls: readonly ModelPart[]): readonly ModelPart[] {
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning-delta', text: reasoning } as const]),
    ...(text === '' ? [] : [{ type: 'text-delta', text } as const]),
    ...calls,
  ];
}

/** A body may mark its end. Usage that comes with the last of several chunks is such a mark, too. */
function lastPart(progress: Progress, { isWhole: isMarked, otherText }: ReplyBody): ModelPart {
  const { count, usageAt, hasContent, refusal, usage } = progress;
  const isWhole = isMarked || (count > 1 && usageAt === count);
  const reason = progress.reason ?? (isWhole && (hasContent || refusal !== '') ? 'other' : null);
  if (reason === null && !hasContent && otherText !== '') {
    const message = `the server sent ${describeText(otherText)} instead of a reply; check the base URL and the server`;
    return failedPart(failure('garbled_reply', message, { retryable: true }), usage);
  }
  if (count === 0) {
    const message = 'the reply contains no data; check that the base URL is that of an OpenAI-compatible API';
    return failedPart(failure('garbled_reply', message, { retryable: true }), usage);
  }
  if (reason === null) return failedPart(CUT, usage);
  if (refusal === '') return { type: 'finish', reason, usage };
  const message = `the model refused: ${redactSecrets(refusal, [])}`;
  return failedPart(failure('refused', message, { stage: 'refinement' }), usage);
}

/** Describes text that is not a reply, for example the page of a proxy. */
function describeText(text: string): string {
  const shown = redactSecrets(text, []);
  if (!/<(?:!doctype|html|head|body)\b/iu.test(shown)) return `the text “${clippedLine(shown, MAX_SHOWN_CHARS)}”`;
  const [, title = ''] = /<title[^>]*>([^<]*)/iu.exec(shown) ?? [];
  const said = title.trim() === '' ? shown.replaceAll(/<[^>]*>?/gu, ' ') : title;
  return `an HTML page: “${clippedLine(said, MAX_SHOWN_CHARS)}”`;
}

const MAX_SHOWN_CHARS = 200;
