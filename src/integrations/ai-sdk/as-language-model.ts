import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { Citation, FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import type { Usage } from '../../../machines/contracts/usage.ts';
import { addUsage } from '../../../machines/policies/usage.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import { locationOf } from '../../chain/presentation/answer-as-text.ts';
import { progressLine } from '../../chain/presentation/entry-words.ts';
import type { Run } from '../../chain/runtime/run.ts';
import type { AnswerVoid } from '../../chain/runtime/run-events.ts';
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
   * Whether the provisional answer is streamed as text. Default: false: it is streamed as reasoning, and the text is the final answer.
   * Streamed text cannot be retracted: if it is not the final answer, its block is marked as void, and another block follows.
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
  | { type: `${BlockType}-start`; id: string; providerMetadata?: Metadata }
  | { type: `${BlockType}-delta`; id: string; delta: string }
  | { type: `${BlockType}-end`; id: string; providerMetadata?: Metadata }
  | Source
  | { type: 'finish'; finishReason: FinishReason; usage: ReportedUsage; providerMetadata: Metadata }
  | { type: 'error'; error: unknown };

type BlockType = 'text' | 'reasoning';

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
  live: z._default(z.boolean(), false),
});

/**
 * Returns a language model of the AI SDK whose replies are a chain's answers, for `generateText`, `streamText`, `generateObject` and
 * everything built on them.
 *
 * 1. The last user message is the request, with its images and files; the messages before it are the history, and system messages are
 *    instructions. The answer's sources become `source` parts.
 * 2. A stream reports what the chain does, and the provisional answer, as reasoning; its text is the final answer.
 * 3. The usage is that of all model calls of the run. Answer metadata is in `providerMetadata.postchain`.
 * 4. An abort interrupts the run. A degraded answer is a reply with the finish reason `other`, or `error` if no model could be reached.
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
      const response = { id: run.id, modelId };
      return {
        content: [{ type: 'text', text: wellFormed(text) }, ...sources],
        ...rest,
        warnings: [...request.warnings],
        response,
      };
    },
    async doStream(call) {
      const { run, request } = start(call);
      const isJson = call.responseFormat?.type === 'json';

      async function* parts(): AsyncGenerator<ChainStreamPart, void> {
        yield { type: 'stream-start', warnings: [...request.warnings] };
        yield { type: 'response-metadata', id: run.id, modelId };
        const progress = new Block('progress', 'reasoning');
        const text = new Block('answer', 'text');
        const draft = live ? text : new Block('draft', 'reasoning', { provisional: true });
        for await (const event of run.events) {
          const line = 'seq' in event ? progressLine(event) : null;
          if (line !== null) yield* progress.write(`${line}\n`);
          if (isJson) continue;
          // Text that was not streamed from a model is final.
          if (event.type === 'answer-delta' && (live || event.attemptId !== null)) yield* draft.write(event.text);
          if (event.type === 'answer-void') yield* draft.end({ void: event.reason });
        }
        const { text: finalText, sources, ...rest } = await finish(run, request, call);
        yield* progress.end();
        if (draft !== text) yield* draft.end();
        if (draft !== text || isJson) yield* text.write(finalText);
        yield* text.end();
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

/** Writes deltas as a block. After its end, the next delta begins a block with another id. */
class Block {
  readonly #name: string;
  readonly #type: BlockType;
  readonly #mark: Mark;
  #count = 0;
  #isOpen = false;

  constructor(name: string, type: BlockType, mark: Mark = {}) {
    this.#name = name;
    this.#type = type;
    this.#mark = mark;
  }

  *write(delta: string): Generator<ChainStreamPart, void> {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#count += 1;
      yield { type: `${this.#type}-start`, id: this.#id, ...marked(this.#mark) };
    }
    yield { type: `${this.#type}-delta`, id: this.#id, delta: wellFormed(delta) };
  }

  *end(mark: Mark = {}): Generator<ChainStreamPart, void> {
    if (this.#isOpen) yield { type: `${this.#type}-end`, id: this.#id, ...marked({ ...this.#mark, ...mark }) };
    this.#isOpen = false;
  }

  get #id(): string {
    return `${this.#name}-${this.#count}`;
  }
}

/** `void`: why the block is not the answer. */
interface Mark {
  readonly provisional?: true;
  readonly void?: AnswerVoid['reason'];
}

const marked = (mark: Mark): { providerMetadata?: Metadata } =>
  Object.keys(mark).length === 0 ? {} : { providerMetadata: { postchain: { ...mark } } };

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
        runId: run.id,
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
