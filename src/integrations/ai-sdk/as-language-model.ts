import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { addUsage } from '../../../machines/policies/usage.ts';
import { wellFormed } from '../../../machines/text/well-formed.ts';
import { locationOf } from '../../chain/presentation/answer-as-text.ts';
import type { Run } from '../../chain/runtime/run.ts';
import type { RunOptions } from '../../chain/runtime/run-options.ts';
import { hasMethod, modelSchema, parseOption } from '../../internal/options.ts';
import type { Content } from '../../llm/content.ts';
import { type ChainCallOptions, type ChainRequest, type ChainWarning, chainRequest } from './chain-request.ts';
import { jsonAnswer } from './json-answer.ts';

/** Returns the text of a `Content`, without its files. */
function textIn(content: Content): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

export interface ChainRunner {
  run(options: RunOptions): Run;
}

export interface ChainLanguageModelOptions<Version extends 'v3' | 'v4' = 'v3' | 'v4'> {
  /** The version of the interface. Default: `v3`, which `ai` 6 and 7 accept. */
  readonly specificationVersion?: Version;
  /** The name of the model in results and telemetry. Default: `chain`. */
  readonly modelId?: string;
  /** Converts an answer to JSON if a caller requests JSON, for example with `generateObject`. Without it, such calls are rejected. */
  readonly model?: ChatModel;
  /**
   * Whether the text of the answer is streamed while it is written. Default: true. If false, it is sent as a whole once it is valid, so text
   * of a failed attempt is never streamed.
   */
  readonly live?: boolean;
}

/** A chain as a language model of the AI SDK. */
export interface ChainLanguageModel<Version extends 'v3' | 'v4' = 'v3' | 'v4'> {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]>;
  doGenerate(options: ChainCallOptions): Promise<Generated>;
  doStream(options: ChainCallOptions): Promise<{ stream: ReadableStream<ChainStreamPart> }>;
}

interface Generated {
  content: ({ type: 'text'; text: string } | Source)[];
  finishReason: FinishReason;
  usage: ReportedUsage;
  providerMetadata: Metadata;
  warnings: ChainWarning[];
  response: { id: string; modelId: string };
}

type ChainStreamPart =
  | { type: 'stream-start'; warnings: ChainWarning[] }
  | { type: 'response-metadata'; id: string; modelId: string }
  | { type: 'text-start'; id: string }
  | { type: 'text-delta'; id: string; delta: string }
  | { type: 'text-end'; id: string; providerMetadata?: Metadata }
  | Source
  | { type: 'finish'; finishReason: FinishReason; usage: ReportedUsage; providerMetadata: Metadata }
  | { type: 'error'; error: unknown };

type Source =
  | { type: 'source'; sourceType: 'url'; id: string; url: string; title: string; providerMetadata: Metadata }
  | {
      type: 'source';
      sourceType: 'document';
      id: string;
      mediaType: string;
      title: string;
      filename: string;
      providerMetadata: Metadata;
    };

interface FinishReason {
  unified: 'stop' | 'error' | 'other';
  raw: string | undefined;
}

interface ReportedUsage {
  inputTokens: {
    total: number;
    noCache: number | undefined;
    cacheRead: number | undefined;
    cacheWrite: number | undefined;
  };
  outputTokens: { total: number; text: number | undefined; reasoning: number | undefined };
}

type Json = null | string | number | boolean | Json[] | { [member: string]: Json | undefined };
type Metadata = { postchain: { [member: string]: Json | undefined } };

const optionsSchema = z.strictObject({
  specificationVersion: z._default(z.enum(['v3', 'v4']), 'v3'),
  modelId: z._default(z.string().check(z.minLength(1)), 'chain'),
  model: z.optional(modelSchema),
  live: z._default(z.boolean(), true),
});

/**
 * Returns a language model of the AI SDK whose replies are a chain's answers, for `generateText`, `streamText`, `generateObject` and
 * everything built on them.
 *
 * 1. The last user message is the request, with its images and files; the messages before it are the history, and system messages are
 *    instructions. The answer's sources become `source` parts.
 * 2. The usage is that of all model calls of the run. Answer metadata is in `providerMetadata.postchain`.
 * 3. An abort interrupts the run. A degraded answer is a reply with the finish reason `other`, or `error` if no model could be reached.
 *
 * @throws PostChainError `invalid_option`
 * @example
 * const { textStream } = streamText({ model: asLanguageModel(chain), prompt: 'What does Yield decide?' });
 */
export function asLanguageModel<Version extends 'v3' | 'v4' = 'v3'>(
  chain: ChainRunner,
  options: ChainLanguageModelOptions<Version> = {},
): ChainLanguageModel<Version> {
  parseOption(hasMethod('run', 'expected a chain, for example createPostChain({ model })'), chain, 'chain');
  const { specificationVersion, modelId, live } = parseOption(optionsSchema, options, 'options of asLanguageModel');
  const { model } = options;

  function start(call: ChainCallOptions): { readonly run: Run; readonly request: ChainRequest } {
    if (call.responseFormat?.type === 'json' && model === undefined) {
      throw new PostChainError(
        'invalid_option',
        'responseFormat: JSON requires a model that converts the answer; pass one: asLanguageModel(chain, { model }).',
      );
    }
    call.abortSignal?.throwIfAborted();
    const request = chainRequest(call);
    const { warnings: _, ...given } = request;
    const run = chain.run({ ...given, ...(call.abortSignal && { signal: call.abortSignal }) });
    return { run, request };
  }

  /** Rejects with the signal's reason if the call was aborted: the answer of an interrupted run is not what the caller asked for. */
  async function finish(run: Run, { request }: ChainRequest, call: ChainCallOptions): Promise<Finished> {
    const { responseFormat: format, abortSignal: signal } = call;
    const answer = await run.answer;
    signal?.throwIfAborted();
    if (format?.type !== 'json' || model === undefined) {
      return { ...finishedRun(run, answer, answer.metadata.usage), text: answer.answerText };
    }
    const { text, usage } = await jsonAnswer(model, { request: textIn(request), answer }, format, signal);
    return { ...finishedRun(run, answer, addUsage(answer.metadata.usage, usage)), text };
  }

  return {
    specificationVersion: specificationVersion as Version,
    provider: 'postchain',
    modelId,
    supportedUrls: {},
    async doGenerate(call) {
      const { run, request } = start(call);
      const { text, sources, ...rest } = await finish(run, request, call);
      const response = { id: run.runId, modelId };
      return {
        content: [{ type: 'text', text: wellFormed(text) }, ...sources],
        ...rest,
        warnings: [...request.warnings],
        response,
      };
    },
    async doStream(call) {
      const { run, request } = start(call);
      const isLive = live && call.responseFormat?.type !== 'json';

      async function* parts(): AsyncGenerator<ChainStreamPart, void> {
        yield { type: 'stream-start', warnings: [...request.warnings] };
        yield { type: 'response-metadata', id: run.runId, modelId };
        const blocks = new TextBlocks();
        if (isLive) for await (const text of answerTexts(run)) yield* blocks.show(text);
        const { text, sources, ...rest } = await finish(run, request, call);
        yield* blocks.finish(text);
        yield* sources;
        yield { type: 'finish', ...rest };
      }
      return { stream: streamOf(parts(), run) };
    },
  };
}

interface Finished {
  readonly text: string;
  readonly sources: readonly Source[];
  readonly finishReason: FinishReason;
  readonly usage: ReportedUsage;
  readonly providerMetadata: Metadata;
}

/** Yields the text of the answer so far, whenever it has grown. */
async function* answerTexts(run: Run): AsyncGenerator<string, void> {
  for await (const event of run.events) {
    if (event.type !== 'partial' || event.task !== 'synthesis') continue;
    const { answerText } = event.value;
    if (typeof answerText === 'string') yield answerText;
  }
}

const COMPARED_CHARS = 200;

/**
 * Streams growing text as the deltas of one block. Streamed text cannot be retracted: if an attempt fails and the answer begins
 * differently, the block is marked as void, and a new block has the whole answer.
 */
class TextBlocks {
  /** As the model wrote it. */
  #sent = '';
  #count = 0;

  *show(text: string): Generator<ChainStreamPart, void> {
    const settled = settledPart(text);
    // `finish` compares the whole text; here only its end, because that is called for every delta.
    const end = this.#sent.slice(-COMPARED_CHARS);
    if (settled.startsWith(end, this.#sent.length - end.length)) yield* this.#write(settled);
  }

  *finish(text: string): Generator<ChainStreamPart, void> {
    if (!text.startsWith(this.#sent)) {
      yield { type: 'text-end', id: String(this.#count), providerMetadata: { postchain: { void: true } } };
      this.#sent = '';
    }
    yield* this.#write(text);
    if (this.#count > 0) yield { type: 'text-end', id: String(this.#count) };
  }

  *#write(text: string): Generator<ChainStreamPart, void> {
    if (text.length === this.#sent.length) return;
    if (this.#sent === '') {
      this.#count += 1;
      yield { type: 'text-start', id: String(this.#count) };
    }
    yield { type: 'text-delta', id: String(this.#count), delta: wellFormed(text.slice(this.#sent.length)) };
    this.#sent = text;
  }
}

/** Returns a text trimmed like the final text, and without the first half of a surrogate pair at its end. */
function settledPart(text: string): string {
  const trimmed = text.trim();
  const last = trimmed.charCodeAt(trimmed.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? trimmed.slice(0, -1).trimEnd() : trimmed;
}

/** Returns a stream of the parts. An error becomes its last part, and an abort makes it fail; canceling it cancels the run. */
function streamOf(parts: AsyncGenerator<ChainStreamPart, void>, run: Run): ReadableStream<ChainStreamPart> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await parts.next();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        if ((error as Error | null)?.name === 'AbortError') {
          controller.error(error);
          return;
        }
        controller.enqueue({ type: 'error', error });
        controller.close();
      }
    },
    cancel() {
      run.cancel('the stream was canceled');
    },
  });
}

function finishedRun(run: Run, answer: FinalAnswer, usage: Usage): Omit<Finished, 'text'> {
  const { status, confidence, reasons, grounding, sources, usedStepIds, notes, metadata } = answer;
  const { missingFields, cycles, cost } = metadata;
  return {
    sources: sources.map(sourceOf),
    finishReason: finishReasonOf(answer),
    usage: reportedUsage(usage),
    providerMetadata: {
      postchain: {
        runId: run.runId,
        status,
        reasons: reasons.map((reason) => ({ ...reason }) as Json),
        confidence,
        grounding: grounding && ({ ...grounding } as unknown as Json),
        notes,
        cycles,
        usedStepIds: [...usedStepIds],
        missingFields: [...missingFields],
        modelCalls: usage.modelCalls,
        cost: cost && { ...cost },
      },
    },
  };
}

function finishReasonOf({ status, metadata: { reason } }: FinalAnswer): FinishReason {
  if (status === 'completed') return { unified: 'stop', raw: status };
  return { unified: reason === 'model_unavailable' ? 'error' : 'other', raw: reason ?? status };
}

/** The parts of a total are not negative, even if a provider does not count cached or reasoning tokens in the total. */
function reportedUsage(usage: Usage): ReportedUsage {
  const { inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens, reasoningTokens } = usage;
  const isKnown = cachedInputTokens !== undefined || cacheWriteTokens !== undefined;
  const fromCache = (cachedInputTokens ?? 0) + (cacheWriteTokens ?? 0);
  return {
    inputTokens: {
      total: inputTokens,
      noCache: isKnown ? Math.max(0, inputTokens - fromCache) : undefined,
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteTokens,
    },
    outputTokens: {
      total: outputTokens,
      text: reasoningTokens === undefined ? undefined : Math.max(0, outputTokens - reasoningTokens),
      reasoning: reasoningTokens,
    },
  };
}

function sourceOf(citation: Citation): Source {
  const { path, startLine, endLine, quote, messageId: id } = citation;
  const shared = {
    type: 'source',
    id,
    title: locationOf(citation),
    providerMetadata: {
      postchain: { path, quote, ...(startLine !== undefined && { startLine, endLine: endLine ?? startLine }) },
    },
  } as const;
  if (/^https?:/u.test(path)) return { ...shared, sourceType: 'url', url: path };
  const mediaType = /\.(md|markdown)$/iu.test(path) ? 'text/markdown' : 'text/plain';
  return { ...shared, sourceType: 'document', mediaType, filename: path };
}
