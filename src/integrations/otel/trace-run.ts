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
import { createModelCalls } from './model-calls.ts';
import { createPhases, type Phases } from './phases.ts';
import {
  createSpanLog,
  type EntryOf,
  type FoldOptions,
  POSTCHAIN,
  type SpanAttributes,
  type SpanLog,
  type Telemetry,
} from './spans.ts';
import { ActorFold } from './trace-actor.ts';

/** A transition from this state leaves the current phase. */
const CYCLING = 'postChain.cycling';

/** Sends the journal of a run, live or recorded, to OpenTelemetry as spans and measurements. */
function createRunFold(start: RunStart, { workflow, provider, content }: FoldOptions, telemetry: Telemetry) {
  const filter = createContentFilter(new Set(start.input.capabilities.map(({ name }) => name)), content);
  const spans = createSpanLog(telemetry, start.input.startedAtMs);
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
  const phases = createPhases(spans, run, filter, conversation);
  const modelCalls = createModelCalls(start.product, { spans, run, phases, filter, conversation, provider });
  const capabilities = createCapabilities(spans, phases, filter);
  let answer: FinalAnswer | null = null;

  function onTransition(entry: EntryOf<'transition'>): void {
    addGuardEvents(entry, spans, phases, filter);
    if (entry.machine === 'attempt' || entry.target.length === 0) return;
    modelCalls.abort('phase');
    if (entry.source === CYCLING) phases.leave(entry.target.includes('synthesizing'));
  }

  function endRun(entry: EntryOf<'end'>): void {
    phases.close();
    modelCalls.abort('run');
    modelCalls.settleTokens(entry.summary.usage);
    const { reason = null } = answer?.metadata ?? {};
    const error = entry.summary.status === 'degraded' ? filter.errorOf({ code: reason ?? '', message: null }) : null;
    spans.end(run, error, endAttributes(entry, answer, filter));
  }

  const handlers: Handlers = {
    'phase-start': (entry) => {
      phases.start(entry);
      modelCalls.enterPhase();
    },
    'phase-end': phases.end,
    decision: phases.decide,
    transition: onTransition,
    'attempt-start': modelCalls.start,
    'text-delta': modelCalls.addText,
    'attempt-end': modelCalls.end,
    'attempt-retry': modelCalls.retry,
    'capability-start': capabilities.start,
    'capability-end': capabilities.end,
    recovery: ({ phase, action, failure }) =>
      spans.addEvent(run, 'postchain.recovery', {
        'postchain.phase': phase,
        'postchain.recovery': action,
        'error.type': filter.errorOf(failure).code,
      }),
    retrieval: ({ query, passages, widened, failure }) =>
      spans.addEvent(phases.span(), 'postchain.retrieval', {
        'postchain.passages': passages,
        'postchain.widened': widened,
        'postchain.query': filter.content(query),
        'postchain.succeeded': failure === null,
      }),
    answer: (entry) => {
      answer = entry.answer;
    },
    end: endRun,
  };

  return {
    take(entry: JournalEntry): void {
      spans.moveTo(entry.atMs);
      if (EXTERNAL_EVENTS.has(entry.type)) phases.settle();
      handle(handlers, entry);
    },
    /** Ends the open spans. No more entries follow. */
    finish(isWaiting: boolean): void {
      if (!spans.isOpen(run)) return;
      modelCalls.enterPhase();
      spans.endAll(isWaiting);
    },
  };
}

/** The state whose transitions are the rules of Yield, in order. */
const DECIDING = 'postChain.cycling.yield.deciding';

function addGuardEvents(
  { source, candidates }: EntryOf<'transition'>,
  spans: SpanLog,
  phases: Phases,
  filter: ContentFilter,
) {
  if (source !== DECIDING) return;
  for (const { guard, result, inputs } of candidates) {
    if (guard === null || result === 'not-evaluated') continue;
    const attributes = { 'postchain.guard': guard, 'postchain.holds': result === 'taken' };
    spans.addEvent(phases.span(), 'postchain.guard', { ...attributes, ...filter.inputs(inputs ?? {}) });
  }
}

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

function handle(handlers: Handlers, entry: JournalEntry): void {
  if (Object.hasOwn(handlers, entry.type)) handlers[entry.type]?.(entry as never);
}

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
  if (!isStored(start)) return createRunFold(runStartOf([start as JournalEntry]), settings, telemetry) as Fold;
  const { actorId } = start as StartEntry;
  const run = (entry: JournalEntry | DurableEntry): JournalEntry => parseRunEntry(entry as DurableEntry, actorId);
  const fold = createRunFold(runStartOf([run(start)]), settings, telemetry) as Fold;
  return { ...fold, take: (entry) => fold.take(run(entry)) };
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
