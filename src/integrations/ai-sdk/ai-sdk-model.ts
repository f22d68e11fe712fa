import * as z from 'zod/mini';
import type { ChatModel, ModelRequest } from '../../../machines/contracts/model.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import { linkSignals, unlessAborted } from '../../internal/async.ts';
import { schemaKey } from '../../internal/json-schema.ts';
import { acceptsSchema, functionSchema, parseOption, requireValidHeaders } from '../../internal/options.ts';
import { headerSecrets } from '../../internal/secrets.ts';
import { replyStream } from '../../models/openai/reply-stream.ts';
import { toolNames } from '../../models/openai/request-body.ts';
import {
  fallbackSchemas,
  isAboutSchema,
  keep,
  offersTools,
  type ToolLevel,
} from '../../models/openai/schema-rejections.ts';
import { isAboutToolChoice, isPromptTooLong, REJECTION_STATUSES } from '../../models/openai/server-errors.ts';
import { strictSchema } from '../../models/openai/strict-schema.ts';
import { ALL_FEATURES, callOptions, type UsedFeatures } from './call-options.ts';
import { aiSdkFailure, reportedError } from './failures.ts';
import type { AiSdkCallOptions, AiSdkLanguageModel, AiSdkProviderOptions, AiSdkStreamPart } from './language-model.ts';
import { ReplyParts } from './reply-parts.ts';

export interface AiSdkModelOptions {
  /** The size of the context window (prompt and reply together), in tokens. Default: 128,000. */
  readonly contextWindowTokens?: number;
  /** Default: the provider's. */
  readonly temperature?: number;
  /** The maximum length of a reply, in tokens. Default: the provider's. */
  readonly maxOutputTokens?: number;
  /** Sent with every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Options by provider, for example `{ openai: { reasoningEffort: 'low' } }`. */
  readonly providerOptions?: AiSdkProviderOptions;
  /** Media types of the files that the model reads, for example `['image/*', 'application/pdf']`. Default: none. */
  readonly accepts?: readonly string[];
  /** Whether capabilities are offered as native tools. Default: true. If the provider rejects them, they are described in the prompt. */
  readonly nativeTools?: boolean;
  /** Called once for each different warning of the provider, for example about a setting that the model does not support. Its errors are ignored. */
  readonly onWarning?: (warning: string) => void;
  /** Returns milliseconds since the epoch, for a `Retry-After` with a date. Default: `Date.now`. */
  readonly now?: () => number;
}

const optionsSchema = z.strictObject({
  contextWindowTokens: z._default(z.int().check(z.gte(1)), 128_000),
  temperature: z.optional(z.number().check(z.gte(0))),
  maxOutputTokens: z.optional(z.int().check(z.gte(1))),
  headers: z._default(z.record(z.string(), z.string()), {}),
  providerOptions: z.optional(z.record(z.string(), z.record(z.string(), z.json()))),
  accepts: z._default(acceptsSchema, []),
  nativeTools: z._default(z.boolean(), true),
  onWarning: z.optional(functionSchema),
  now: z.optional(functionSchema),
});

const languageModelSchema = z.object(
  {
    specificationVersion: z.enum(['v2', 'v3', 'v4']),
    provider: z.string(),
    modelId: z.string(),
    doStream: functionSchema,
  },
  'expected a language model of the AI SDK, for example openai("gpt-4.1-mini")',
);

/**
 * Returns a model that calls a language model of the AI SDK: any provider whose models implement `LanguageModelV2`, `V3` or `V4` (`ai` 5,
 * 6 and 7). Neither `ai` nor `@ai-sdk/provider` has to be installed.
 *
 * 1. Any error becomes the last part of the stream, a `failure`, as for `openaiModel`.
 * 2. One `stream` is one attempt without retries. If the provider rejects or ignores a feature (a JSON schema, tools in addition to a
 *    reply), the request is repeated without it, and later requests leave it out.
 * 3. An abort, a `break` and the end of the stream abort the provider's request.
 *
 * @throws PostChainError `invalid_option`
 * @example
 * const model = aiSdkModel(anthropic('claude-sonnet-4-5'), { contextWindowTokens: 200_000 });
 */
export function aiSdkModel(languageModel: AiSdkLanguageModel, options: AiSdkModelOptions = {}): ChatModel {
  const {
    provider,
    modelId,
    specificationVersion: version,
  } = parseOption(languageModelSchema, languageModel, 'languageModel');
  const { contextWindowTokens, accepts, nativeTools, headers } = parseOption(
    optionsSchema,
    options,
    'options of aiSdkModel',
  );
  requireValidHeaders(headers);
  const failures = { secrets: headerSecrets(headers), now: options.now ?? Date.now };
  const open = negotiateFeatures(languageModel, options);

  return {
    id: `${provider}:${modelId}`,
    contextWindowTokens,
    maxOutputTokens: options.maxOutputTokens,
    accepts,
    nativeTools,
    stream: (request, { signal: caller }) =>
      replyStream(
        request,
        caller,
        (thrown) => aiSdkFailure(thrown, failures),
        async function* (signal, failureOf) {
          const reply = new ReplyParts({ version, provider, nameOf: toolNames(request).nameOf, failureOf });
          for await (const part of open(request, signal)) {
            yield* reply.read(part);
            if (reply.isOver) return;
          }
          yield reply.cut();
        },
      ),
  };
}

type Open = (request: ModelRequest, signal: AbortSignal) => AsyncGenerator<AiSdkStreamPart, void>;

/**
 * Returns a function that sends requests with the features that the provider implements. A rejection of a schema is remembered for that
 * schema only, by its text, everything else for all requests.
 */
function negotiateFeatures(model: AiSdkLanguageModel, options: AiSdkModelOptions): Open {
  const { temperature, maxOutputTokens, headers, providerOptions, onWarning } = options;
  const settings = {
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(headers !== undefined && { headers: { ...headers } }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
  const warned = new Set<string>();
  const rejected = new Map<string, Pick<UsedFeatures, 'format' | 'replyTool'>>();
  const toolLevels = new Map<string, ToolLevel>();
  let known = ALL_FEATURES;

  function warn(warnings: readonly string[]): void {
    for (const warning of warnings) {
      if (warned.has(warning) || warned.size >= MAX_WARNINGS) continue;
      warned.add(warning);
      void tell(warning);
    }
  }

  /** An error of the listener must not fail the call. */
  async function tell(warning: string): Promise<void> {
    try {
      await onWarning?.(warning);
    } catch {}
  }

  /** Only what the provider accepted in the end is remembered. */
  function remember(key: string, { format, replyTool, tools, ...others }: UsedFeatures): void {
    known = { ...known, toolChoice: others.toolChoice, offers: others.offers };
    if (format !== known.format || replyTool !== known.replyTool) keep(rejected, [[key, { format, replyTool }]]);
    if (tools !== toolLevels) keep(toolLevels, tools);
  }

  async function* open(request: ModelRequest, signal: AbortSignal): AsyncGenerator<AiSdkStreamPart, void> {
    const key = `${request.replyForm} ${schemaKey(request.outputSchema)}`;
    let features: UsedFeatures = { ...known, ...rejected.get(key), tools: toolLevels };
    let isFallback = false;
    for (;;) {
      const attempt = linkSignals(signal);
      try {
        const call = {
          ...settings,
          ...wellFormed(callOptions(request, features, model)),
          ...looseOptions(request, model, providerOptions),
          abortSignal: attempt.signal,
        };
        const { stream } = await unlessAborted(Promise.resolve(model.doStream(call)), signal);
        if (isFallback) remember(key, features);
        const sendsSchema = call.responseFormat?.schema !== undefined;
        let ignoresSchema = false;
        for await (const part of partsOf(stream, signal)) {
          const warnings = part.type === 'stream-start' ? warningsOf(part.warnings) : [];
          warn(warnings);
          ignoresSchema = sendsSchema && warnings.some((text) => NO_SCHEMAS.test(text) && !ABOUT_PART.test(text));
          if (ignoresSchema) break;
          yield part;
        }
        if (!ignoresSchema) return;
        known = { ...known, format: 'json' };
        features = { ...features, format: 'json' };
      } catch (thrown) {
        const next = signal.aborted ? null : fallbackFeatures(features, request, thrown);
        if (next === null) throw thrown;
        isFallback = true;
        features = next;
      } finally {
        attempt.forget();
        attempt.abort();
      }
    }
  }
  return open;
}

/** A provider may send a different text in every warning. */
const MAX_WARNINGS = 100;

const ABOUT_FORMAT =
  /response_?\s?(format|schema|mime)|json[_ ](schema|object|mode)|invalid schema|structured ?outputs?|output_(format|config)|grammar/iu;
const ABOUT_TOOLS = /\btools?\b|function[- _]?call/iu;

/** Matches a warning that the reply's schema was not sent, unless `ABOUT_PART` (a tool, or a removed keyword) matches, too. */
const NO_SCHEMAS =
  /response_?\s?(format|schema|mime)|json[_ ](object|mode)|structured ?outputs?|output_(format|config)/iu;
const ABOUT_PART = /\btools?\b|function|removed/iu;

/** OpenAI's provider marks every schema of a reply as strict, also those that cannot be. */
function looseOptions(
  { outputSchema, replyForm }: ModelRequest,
  { provider }: AiSdkLanguageModel,
  options: AiSdkProviderOptions = {},
): Pick<AiSdkCallOptions, 'providerOptions'> {
  if (replyForm !== 'text' || !provider.startsWith('openai.') || strictSchema(outputSchema) !== null) return {};
  return { providerOptions: { ...options, openai: { strictJsonSchema: false, ...options['openai'] } } };
}

/** Returns the features to use after a rejection; null if it is about something else, or no feature is left to give up. */
function fallbackFeatures(features: UsedFeatures, request: ModelRequest, thrown: unknown): UsedFeatures | null {
  const error = reportedError(thrown);
  if (error === null || !REJECTION_STATUSES.has(error.status) || isPromptTooLong(error)) return null;
  if (request.replyForm === 'tool-call' && features.toolChoice === 'required' && isAboutToolChoice(error.text)) {
    return { ...features, toolChoice: 'prompt' };
  }
  const isOffering = offersTools(request, features);
  if (isAboutSchema(error)) {
    const next = fallbackSchemas(features, error, request, {
      names: toolNames(request),
      tools: isOffering ? request.tools : [],
      levelOf: ({ parameters }) => features.tools.get(schemaKey(parameters)) ?? 'plain',
      isReplyStrict: strictSchema(request.outputSchema) !== null,
      poorerReply: withPoorerReply(features, request),
      blamesReply: false,
    });
    if (next !== null) return next;
  }
  if (isOffering && ABOUT_TOOLS.test(error.text)) return { ...features, offers: 'prompt' };
  if (request.replyForm === 'tool-call' || !ABOUT_FORMAT.test(error.text)) return null;
  return withPoorerReply(features, request);
}

function withPoorerReply(features: UsedFeatures, { replyForm }: ModelRequest): UsedFeatures | null {
  if (replyForm === 'tool-call') return features.replyTool === 'bare' ? null : { ...features, replyTool: 'bare' };
  if (replyForm === 'prose') return null;
  const asked = replyForm === 'json-object' && features.format === 'schema' ? 'json' : features.format;
  return asked === 'text' ? null : { ...features, format: asked === 'schema' ? 'json' : 'text' };
}

/** Reads a stream until it ends or the signal aborts, even if the provider ignores the signal. */
async function* partsOf(
  stream: ReadableStream<AiSdkStreamPart>,
  signal: AbortSignal,
): AsyncGenerator<AiSdkStreamPart, void> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** V2 has `setting` and `tool` in place of `feature`. */
function warningsOf(warnings: unknown): readonly string[] {
  if (!Array.isArray(warnings)) return [];
  return warnings.map((warning: Warning | null) => {
    const { type, feature, setting, tool, details, message } = warning ?? {};
    const what = feature ?? setting ?? (tool as { readonly name?: unknown } | undefined)?.name;
    return [type === 'other' ? undefined : type, what, details ?? message]
      .filter((text) => typeof text === 'string' && text !== '')
      .join(': ');
  });
}

interface Warning {
  readonly type?: unknown;
  readonly feature?: unknown;
  readonly setting?: unknown;
  readonly tool?: unknown;
  readonly details?: unknown;
  readonly message?: unknown;
}
