import type { RunProduct } from '../../../machines/contracts/journal.ts';
import { followsPhases } from '../../../machines/contracts/phase.ts';
import type { TokenUsage, Usage } from '../../../machines/contracts/usage.ts';
import { type ContentFilter, messageText } from './content-filter.ts';
import type { Phases } from './phases.ts';
import { ABORTED, type EntryOf, type OpenSpan, POSTCHAIN, type SpanAttributes, type SpanLog } from './spans.ts';

interface ModelCall {
  readonly span: OpenSpan;
  /** Whether it started before its phase, so that the end of an earlier phase does not end it. */
  readonly isEarly: boolean;
  /** Time to the first text, in milliseconds. */
  firstMs: number | null;
  readonly text: string[];
}

type Models = Pick<RunProduct, 'prompts' | 'modelId' | 'fallbackModelIds'>;

interface ModelCallParts {
  readonly spans: SpanLog;
  readonly run: OpenSpan;
  readonly phases: Pick<Phases, 'span' | 'isAt' | 'isBefore'>;
  readonly filter: ContentFilter;
  readonly conversation: SpanAttributes;
  readonly provider: string | null;
}

/**
 * Records each attempt of a model call as a `chat` span below its phase. Calls of the synthesis, and those that start before their phase,
 * are below the run.
 */
export class ModelCalls {
  readonly #models: Models;
  readonly #parts: ModelCallParts;
  readonly #tokens: TokenTotals;
  readonly #open = new Map<string, ModelCall>();
  /** The parent spans of attempt series. */
  readonly #parents = new Map<string, OpenSpan>();
  /** Calls whose `phase-start` entry has not been read yet. */
  #waiting: EntryOf<'attempt-start'>[] = [];

  constructor(models: Models, parts: ModelCallParts) {
    this.#models = models;
    this.#parts = parts;
    this.#tokens = new TokenTotals(parts.spans);
  }

  /** Starts a phase, and those of its calls that were recorded before it. Phases without a call may start in between. */
  enterPhase(): void {
    this.#parents.clear();
    const known = this.#waiting;
    this.#waiting = [];
    for (const entry of known) {
      if (this.#parts.phases.isAt(stepOf(entry.attemptId) ?? 0)) this.#begin(entry);
      else this.#waiting.push(entry);
    }
  }

  start(entry: EntryOf<'attempt-start'>): void {
    const { phases } = this.#parts;
    const step = stepOf(entry.attemptId);
    if (followsPhases(entry.task) || step === null || phases.isAt(step)) this.#begin(entry);
    else if (phases.isBefore(step)) this.#begin(entry, true);
    else this.#waiting.push(entry);
  }

  addText({ attemptId, text }: EntryOf<'text-delta'>): void {
    const { spans, filter } = this.#parts;
    const call = this.#open.get(attemptId);
    if (call === undefined) return;
    call.firstMs ??= spans.nowMs - call.span.startMs;
    if (filter.content(true)) call.text.push(text);
  }

  end({ attemptId, failure, usage }: EntryOf<'attempt-end'>): void {
    const { spans, filter } = this.#parts;
    const call = this.#open.get(attemptId);
    if (call === undefined) return;
    this.#open.delete(attemptId);
    this.#tokens.add(call.span, usage);
    const output = filter.content(messageText('assistant', call.text.join(''), failure === null ? 'stop' : 'error'));
    spans.end(call.span, failure && filter.errorOf(failure), {
      'gen_ai.usage.input_tokens': usage.inputTokens,
      'gen_ai.usage.output_tokens': usage.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteTokens,
      'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens,
      'gen_ai.response.time_to_first_chunk': call.firstMs === null ? undefined : call.firstMs / 1000,
      'gen_ai.output.messages': output,
      'http.response.status_code': failure?.status ?? undefined,
      'postchain.usage.estimated': usage.estimated,
      'postchain.failure.stage': failure?.stage,
    });
  }

  retry({ attemptId, attempt, model, delayMs }: EntryOf<'attempt-retry'>): void {
    const parent = this.#parents.get(attemptId);
    if (parent === undefined) return;
    this.#parts.spans.addEvent(parent, 'postchain.retry', {
      ...this.#modelOf(model),
      'postchain.attempt': attempt,
      'postchain.backoff_ms': delayMs,
    });
  }

  /** Ends the open calls of a phase or of the run. It has ended, so no end entry will follow. */
  abort(which: 'phase' | 'run'): void {
    for (const [attemptId, { span, isEarly }] of this.#open) {
      if (isEarly && which === 'phase') continue;
      this.#open.delete(attemptId);
      this.#tokens.addAborted(span);
      this.#parts.spans.end(span, ABORTED);
    }
  }

  /** Measures the tokens of aborted calls at the end of the run. */
  settleTokens(total: Usage): void {
    this.#tokens.settle(total);
  }

  #modelOf(index: number): SpanAttributes {
    const { modelId, fallbackModelIds } = this.#models;
    return modelAttributes([modelId, ...fallbackModelIds][index] ?? modelId, this.#parts.provider);
  }

  #begin({ attemptId, task, phases: replyTo, attempt, model }: EntryOf<'attempt-start'>, isEarly = false): void {
    const { spans, run, phases, conversation } = this.#parts;
    const parent = this.#parents.get(attemptId) ?? (followsPhases(task) || isEarly ? run : phases.span());
    if (!isEarly) this.#parents.set(attemptId, parent);
    const shared = this.#modelOf(model);
    const prompt = this.#models.prompts[replyTo === undefined ? task : 'brief'];
    const span = spans.begin({
      operation: 'chat',
      subject: String(shared['gen_ai.request.model'] ?? ''),
      parent,
      shared,
      attributes: {
        ...conversation,
        'gen_ai.request.stream': true,
        'gen_ai.prompt.name': prompt?.name,
        'postchain.prompt.version': prompt?.version,
        'postchain.task': task,
        'postchain.phases': replyTo,
        'postchain.attempt': attempt,
        'postchain.early': isEarly || undefined,
      },
    });
    this.#open.set(attemptId, { span, isEarly, firstMs: null, text: [] });
  }
}

/** Attempt ids begin with their step: `s3.intention`. */
function stepOf(attemptId: string): number | null {
  const [, step] = /^s(\d+)\./u.exec(attemptId) ?? [];
  return step === undefined ? null : Number(step);
}

/**
 * Measures the tokens of a run's model calls. The tokens of aborted calls appear only in the run's total. At the end, the rest of that total
 * is measured once for all of them, so that the measurements add up.
 */
class TokenTotals {
  readonly #spans: SpanLog;
  readonly #aborted: OpenSpan[] = [];
  #input = 0;
  #output = 0;

  constructor(spans: SpanLog) {
    this.#spans = spans;
  }

  add(span: OpenSpan, usage: TokenUsage): void {
    this.#input += usage.inputTokens;
    this.#output += usage.outputTokens;
    this.#measure(span, usage.inputTokens, usage.outputTokens);
  }

  addAborted(span: OpenSpan): void {
    this.#aborted.push(span);
  }

  settle({ inputTokens, outputTokens }: Usage): void {
    const [first] = this.#aborted;
    if (first === undefined) return;
    const attributes = { 'postchain.aborted': true, ...commonModel(this.#aborted) };
    this.#measure(first, Math.max(0, inputTokens - this.#input), Math.max(0, outputTokens - this.#output), attributes);
  }

  #measure(span: OpenSpan, input: number, output: number, attributes: SpanAttributes = {}): void {
    this.#spans.measure('tokens', span, input, { ...attributes, 'gen_ai.token.type': 'input' });
    this.#spans.measure('tokens', span, output, { ...attributes, 'gen_ai.token.type': 'output' });
  }
}

/** Overrides the model attributes if the calls were made to several models. */
function commonModel(spans: readonly OpenSpan[]): SpanAttributes {
  const names = ['gen_ai.provider.name', 'gen_ai.request.model'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const isShared = spans.every(({ shared }) => shared[name] === spans[0]?.shared[name]);
      return isShared ? [] : [[name, name === 'gen_ai.provider.name' ? '_OTHER' : undefined]];
    }),
  );
}

/** Model id prefixes that are well-known values of `gen_ai.provider.name`. */
const PROVIDERS: ReadonlySet<string> = new Set([
  'anthropic',
  'aws.bedrock',
  'azure.ai.inference',
  'azure.ai.openai',
  'cohere',
  'deepseek',
  'gcp.gemini',
  'gcp.gen_ai',
  'gcp.vertex_ai',
  'groq',
  'ibm.watsonx.ai',
  'mistral_ai',
  'openai',
  'perplexity',
  'x_ai',
]);

/** Returns the attributes of a model: `openai:gpt-4.1-mini` is `gpt-4.1-mini` of `openai`; `llama3:8b` is a model name. */
function modelAttributes(modelId: string, provider: string | null): SpanAttributes {
  const colon = modelId.indexOf(':');
  const prefix = modelId.slice(0, Math.max(0, colon));
  const hasProvider = PROVIDERS.has(prefix);
  return {
    ...POSTCHAIN,
    ...(hasProvider ? { 'gen_ai.provider.name': prefix } : provider !== null && { 'gen_ai.provider.name': provider }),
    'gen_ai.request.model': (hasProvider ? modelId.slice(colon + 1) : modelId) || undefined,
  };
}
