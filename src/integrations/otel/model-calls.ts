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
export function createModelCalls({ prompts, modelId, fallbackModelIds }: Models, parts: ModelCallParts) {
  const { spans, run, phases, filter } = parts;
  const tokens = createTokenTotals(spans);
  const modelIds = [modelId, ...fallbackModelIds];
  const open = new Map<string, ModelCall>();
  /** The parent spans of attempt series. */
  const parents = new Map<string, OpenSpan>();
  /** Calls whose `phase-start` entry has not been read yet. */
  let waiting: EntryOf<'attempt-start'>[] = [];

  const modelOf = (index: number): SpanAttributes => modelAttributes(modelIds[index] ?? modelId, parts.provider);

  function begin(
    { attemptId, task, phases: replyTo, attempt, model }: EntryOf<'attempt-start'>,
    isEarly = false,
  ): void {
    const parent = parents.get(attemptId) ?? (followsPhases(task) || isEarly ? run : phases.span());
    if (!isEarly) parents.set(attemptId, parent);
    const shared = modelOf(model);
    const prompt = prompts[replyTo === undefined ? task : 'brief'];
    const span = spans.begin({
      operation: 'chat',
      subject: String(shared['gen_ai.request.model'] ?? ''),
      parent,
      shared,
      attributes: {
        ...parts.conversation,
        'gen_ai.request.stream': true,
        'gen_ai.prompt.name': prompt?.name,
        'postchain.prompt.version': prompt?.version,
        'postchain.task': task,
        'postchain.phases': replyTo,
        'postchain.attempt': attempt,
        'postchain.early': isEarly || undefined,
      },
    });
    open.set(attemptId, { span, isEarly, firstMs: null, text: [] });
  }

  return {
    /** Starts a phase, and those of its calls that were recorded before it. Phases without a call may start in between. */
    enterPhase(): void {
      parents.clear();
      const isDue = ({ attemptId }: EntryOf<'attempt-start'>): boolean => phases.isAt(stepOf(attemptId) ?? 0);
      const due = waiting.filter(isDue);
      waiting = waiting.filter((entry) => !isDue(entry));
      for (const entry of due) begin(entry);
    },
    start(entry: EntryOf<'attempt-start'>): void {
      const step = stepOf(entry.attemptId);
      if (followsPhases(entry.task) || step === null || phases.isAt(step)) begin(entry);
      else if (phases.isBefore(step)) begin(entry, true);
      else waiting.push(entry);
    },
    addText({ attemptId, text }: EntryOf<'text-delta'>): void {
      const call = open.get(attemptId);
      if (call === undefined) return;
      call.firstMs ??= spans.nowMs() - call.span.startMs;
      if (filter.content(true)) call.text.push(text);
    },
    end({ attemptId, failure, usage }: EntryOf<'attempt-end'>): void {
      const call = open.get(attemptId);
      if (call === undefined) return;
      open.delete(attemptId);
      tokens.add(call.span, usage);
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
    },
    retry({ attemptId, attempt, model, delayMs }: EntryOf<'attempt-retry'>): void {
      const parent = parents.get(attemptId);
      if (parent === undefined) return;
      spans.addEvent(parent, 'postchain.retry', {
        ...modelOf(model),
        'postchain.attempt': attempt,
        'postchain.backoff_ms': delayMs,
      });
    },
    /** Ends the open calls of a phase or of the run. It has ended, so no end entry will follow. */
    abort(which: 'phase' | 'run'): void {
      for (const [attemptId, { span, isEarly }] of open) {
        if (isEarly && which === 'phase') continue;
        open.delete(attemptId);
        tokens.addAborted(span);
        spans.end(span, ABORTED);
      }
    },
    settleTokens: tokens.settle,
  };
}

/** Attempt ids begin with their step: `s3.intention`. */
function stepOf(attemptId: string): number | null {
  const [, step] = /^s(\d+)\./u.exec(attemptId) ?? [];
  return step === undefined ? null : Number(step);
}

type Tokens = Pick<TokenUsage, 'inputTokens' | 'outputTokens'>;

/**
 * Measures the tokens of a run's model calls. The tokens of aborted calls appear only in the run's total. At the end, the rest of that total
 * is measured once for all of them, so that the measurements add up.
 */
function createTokenTotals(spans: SpanLog) {
  let input = 0;
  let output = 0;
  const aborted: OpenSpan[] = [];

  function measure(span: OpenSpan, { inputTokens, outputTokens }: Tokens, attributes: SpanAttributes): void {
    spans.measure('tokens', span, inputTokens, { ...attributes, 'gen_ai.token.type': 'input' });
    spans.measure('tokens', span, outputTokens, { ...attributes, 'gen_ai.token.type': 'output' });
  }

  return {
    add(span: OpenSpan, usage: TokenUsage): void {
      input += usage.inputTokens;
      output += usage.outputTokens;
      measure(span, usage, {});
    },
    addAborted: (span: OpenSpan): void => void aborted.push(span),
    settle({ inputTokens, outputTokens }: Usage): void {
      const [first] = aborted;
      if (first === undefined) return;
      const rest = { inputTokens: Math.max(0, inputTokens - input), outputTokens: Math.max(0, outputTokens - output) };
      measure(first, rest, { 'postchain.aborted': true, ...commonModel(aborted) });
    },
  };
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
