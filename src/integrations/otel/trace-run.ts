import type { Meter, Tracer } from '@opentelemetry/api';
import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { isStartOfRun, parseRunEntry } from '../../chain/journal/run-journal.ts';
import { isStored, runStartOf } from '../../chain/journal/run-start.ts';
import type { RunEvent } from '../../chain/runtime/run-events.ts';
import type { DurableEntry, StartEntry } from '../../durable/entries.ts';
import { loadOptional } from '../../internal/optional-package.ts';
import { hasMethod, invalidOption } from '../../internal/options.ts';
import { createCapabilities } from './capabilities.ts';
import { type ContentFilter, createContentFilter, messageText } from './content-filter.ts';
import { ModelCalls } from './model-calls.ts';
import { createPhases, type Phases } from './phases.ts';
import {
  type EntryOf,
  type FoldOptions,
  type OpenSpan,
  POSTCHAIN,
  type SpanAttributes,
  SpanLog,
  type Telemetry,
} from './spans.ts';
import { ActorFold } from './trace-actor.ts';

/** A transition from this state leaves the current phase. */
const CYCLING = 'postChain.cycling';

/** Sends the journal of a run, live or recorded, to OpenTelemetry as spans and measurements. */
class RunFold {
  readonly #filter: ContentFilter;
  readonly #spans: SpanLog;
  readonly #run: OpenSpan;
  readonly #phases: Phases;
  readonly #modelCalls: ModelCalls;
  readonly #handlers: Handlers;
  #answer: FinalAnswer | null = null;

  constructor(start: RunStart, { workflow, provider, content }: FoldOptions, telemetry: Telemetry) {
    const filter = createContentFilter(new Set(start.input.capabilities.map(({ name }) => name)), content);
    const spans = new SpanLog(telemetry, start.input.startedAtMs);
    const name = workflow ?? start.machine.id;
    const conversation: SpanAttributes = { 'gen_ai.conversation.id': start.input.sessionId ?? undefined };
    const run = spans.begin({
      operation: 'invoke_workflow',
      subject: name,
      parent: null,
      shared: { ...POSTCHAIN, 'gen_ai.workflow.name': name },
      attributes: {
        ...conversation,
        'gen_ai.input.messages': filter.content(messageText('user', start.input.request)),
        'postchain.run.id': start.input.runId,
      },
    });
    this.#filter = filter;
    this.#spans = spans;
    this.#run = run;
    this.#phases = createPhases(spans, run, filter, conversation);
    const parts = { spans, run, phases: this.#phases, filter, conversation, provider };
    this.#modelCalls = new ModelCalls(start.product, parts);
    this.#handlers = this.#createHandlers();
  }

  take(entry: JournalEntry): void {
    this.#spans.moveTo(entry.atMs);
    if (EXTERNAL_EVENTS.has(entry.type)) this.#phases.settle();
    if (Object.hasOwn(this.#handlers, entry.type)) this.#handlers[entry.type]?.(entry as never);
  }

  /** Ends the open spans. No more entries follow. */
  finish(isWaiting: boolean): void {
    if (!this.#spans.isOpen(this.#run)) return;
    this.#modelCalls.enterPhase();
    this.#spans.endAll(isWaiting);
  }

  #createHandlers(): Handlers {
    const phases = this.#phases;
    const modelCalls = this.#modelCalls;
    const capabilities = createCapabilities(this.#spans, phases, this.#filter);
    return {
      'phase-start': (entry) => {
        phases.start(entry);
        modelCalls.enterPhase();
      },
      'phase-end': phases.end,
      decision: phases.decide,
      transition: (entry) => this.#takeTransition(entry),
      'attempt-start': (entry) => modelCalls.start(entry),
      'text-delta': (entry) => modelCalls.addText(entry),
      'attempt-end': (entry) => modelCalls.end(entry),
      'attempt-retry': (entry) => modelCalls.retry(entry),
      'capability-start': capabilities.start,
      'capability-end': capabilities.end,
      recovery: ({ phase, action, failure }) =>
        this.#spans.addEvent(this.#run, 'postchain.recovery', {
          'postchain.phase': phase,
          'postchain.recovery': action,
          'error.type': this.#filter.errorOf(failure).code,
        }),
      retrieval: ({ query, passages, widened, failure }) =>
        this.#spans.addEvent(phases.span(), 'postchain.retrieval', {
          'postchain.passages': passages,
          'postchain.widened': widened,
          'postchain.query': this.#filter.content(query),
          'postchain.succeeded': failure === null,
        }),
      answer: ({ answer }) => {
        this.#answer = answer;
      },
      end: (entry) => this.#end(entry),
    };
  }

  #takeTransition({ machine, source, target, candidates }: EntryOf<'transition'>): void {
    if (source === DECIDING)
      this.#spans.addGuards(this.#phases.span(), candidates, (inputs) => this.#filter.inputs(inputs ?? {}));
    if (machine === 'attempt' || target.length === 0) return;
    this.#modelCalls.abort('phase');
    if (source === CYCLING) this.#phases.leave(target.includes('synthesizing'));
  }

  #end(entry: EntryOf<'end'>): void {
    this.#phases.close();
    this.#modelCalls.abort('run');
    this.#modelCalls.settleTokens(entry.summary.usage);
    const code = this.#answer?.metadata.reason ?? '';
    const error = entry.summary.status === 'degraded' ? this.#filter.errorOf({ code, message: null }) : null;
    this.#spans.end(this.#run, error, endAttributes(entry, this.#answer, this.#filter));
  }
}

/** The state whose transitions are the rules of Yield, in order. */
const DECIDING = 'postChain.cycling.yield.deciding';

function endAttributes(
  { summary: { status, usage } }: EntryOf<'end'>,
  answer: FinalAnswer | null,
  filter: ContentFilter,
): SpanAttributes {
  return {
    'gen_ai.output.messages':
      filter.content(answer && messageText('assistant', answer.answerText, 'stop')) ?? undefined,
    'postchain.status': status,
    'postchain.degradation': answer?.metadata.reason ?? undefined,
    'postchain.confidence': answer?.confidence,
    'postchain.cycles': answer?.metadata.cycles,
    'postchain.usage.model_calls': usage.modelCalls,
    'postchain.usage.input_tokens': usage.inputTokens,
    'postchain.usage.output_tokens': usage.outputTokens,
    'postchain.usage.estimated': usage.estimated,
    'postchain.cost.amount': answer?.metadata.cost?.amount,
    'postchain.cost.currency': answer?.metadata.cost?.currency,
  };
}

/** Handlers by entry type; other entries are ignored. */
type Handlers = { readonly [Type in JournalEntry['type']]?: (entry: EntryOf<Type>) => void };

export interface TraceRunOptions {
  /** The default is the tracer "postchain" of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** The default is the meter "postchain" of the global provider. Pass `createNoopMeter()` to disable metrics. */
  readonly meter?: Meter | undefined;
  /** Whether to record requests, replies, arguments, results and texts that quote them. The default is false. */
  readonly content?: boolean | undefined;
  /** `gen_ai.workflow.name`. The default is the id of the machine. */
  readonly workflow?: string | undefined;
  /** The ids of the models of attempts, in order: in the journal of a machine other than the chain, they have only numbers. */
  readonly models?: readonly string[] | undefined;
  /** `gen_ai.provider.name` of models whose id has no provider prefix such as `openai:`. The default is "postchain". */
  readonly provider?: string | undefined;
}

/**
 * Exports a run, or a durable actor of any machine, to OpenTelemetry, by the semantic conventions for generative AI. While it runs, pass
 * `run.events`, or `journals.follow(id)` of an actor; afterwards `readJournal(path)`, `run.entries` or `journals.read(id)`. All give the same
 * spans with the same times. The spans are children of the span that is active at the call.
 *
 * Resolves when the journal and its spans have ended. Errors in OpenTelemetry do not affect it.
 *
 * @throws PostChainError `invalid_option` for invalid options, `package_missing` without `@opentelemetry/api`, `invalid_journal` if the
 * first entry is not `start`, or an entry is damaged. Errors of the iterable are rethrown after the open spans are ended.
 */
export async function traceRun(
  entries: AsyncIterable<RunEvent | DurableEntry> | Iterable<JournalEntry | DurableEntry>,
  options: TraceRunOptions = {},
): Promise<void> {
  const settings = readOptions(options);
  const api = await loadOptional('@opentelemetry/api', 'traceRun', () => import('@opentelemetry/api'));
  const telemetry = telemetryOf(settings, api);
  let fold: Fold | null = null;
  let isWaiting = false;
  try {
    for await (const entry of entries) {
      if (!('seq' in entry)) continue;
      isWaiting = entry.type === 'closed' && entry.waiting !== undefined;
      try {
        if (fold === null) fold = foldOf(entry, settings, telemetry);
        else fold.take(entry);
      } catch (cause) {
        throw damaged(entry, cause);
      }
    }
    if (fold === null) runStartOf([]);
  } finally {
    fold?.finish(isWaiting);
  }
}

function damaged({ seq }: { readonly seq: number }, cause: unknown): PostChainError {
  if (PostChainError.isInstance(cause)) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new PostChainError('invalid_journal', `traceRun: cannot read entry ${seq}: ${reason}`, { cause });
}

interface Fold {
  take(entry: JournalEntry | DurableEntry): void;
  finish(isWaiting: boolean): void;
}

function foldOf(start: JournalEntry | DurableEntry, settings: Settings, telemetry: Telemetry): Fold {
  if (start.type === 'start' && !isStartOfRun(start)) return new ActorFold(start as StartEntry, settings, telemetry);
  const { actorId } = start as StartEntry;
  const parsed = (entry: JournalEntry | DurableEntry): JournalEntry =>
    isStored(start) ? parseRunEntry(entry as DurableEntry, actorId) : (entry as JournalEntry);
  const fold = new RunFold(runStartOf([parsed(start)]), settings, telemetry);
  return {
    take: (entry) => fold.take(parsed(entry)),
    finish: (isWaiting) => fold.finish(isWaiting),
  };
}

/** The version of the conventions: the newest one that includes generative AI. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.41.1';

const optionsSchema = z.strictObject({
  tracer: z.optional(hasMethod<Tracer>('startSpan', 'expected a Tracer of @opentelemetry/api')),
  meter: z.optional(hasMethod<Meter>('createHistogram', 'expected a Meter of @opentelemetry/api')),
  content: z._default(z.boolean('expected true or false'), false),
  workflow: z._default(
    z.nullable(z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'))),
    null,
  ),
  provider: z._default(
    z.nullable(z.string('expected a non-empty string').check(z.minLength(1, 'expected a non-empty string'))),
    null,
  ),
  models: z._default(z.array(z.string('expected a model id'), 'expected a list of model ids'), []),
});

type Settings = z.output<typeof optionsSchema>;

function readOptions(options: TraceRunOptions): Settings {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw invalidOption('traceRun', options, read.error, optionsSchema);
  return read.data;
}

function telemetryOf({ tracer, meter }: Settings, api: Telemetry['api']): Telemetry {
  const { name, version } = manifest;
  const scope = [name, version, { schemaUrl: SCHEMA_URL }] as const;
  return {
    api,
    tracer: tracer ?? api.trace.getTracerProvider().getTracer(...scope),
    meter: meter ?? api.metrics.getMeter(...scope),
    // The journal may be read later, when another span is active.
    context: api.context.active(),
  };
}
